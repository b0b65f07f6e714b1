import Coffer
import CofferTestSupport
import Foundation
import Testing

/// Uses other programs to read and set the attributes, because code of this package could make the same
/// mistakes.
@Suite("Owner, permissions, access control lists and extended attributes")
struct KeptAttributesTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// An ACL in the format of Linux: `rw` for the owner, `r` for user 4711 and the group, nothing for
    /// others.
    private static let accessList =
        "02000000" + "01000600ffffffff" + "0200040067120000" + "04000400ffffffff" + "10000400ffffffff"
        + "20000000ffffffff"

    private struct Attributes: Equatable, CustomStringConvertible {
        var description: String
    }

    private func attributes(of path: String) throws -> Attributes {
        let script = """
            os, sys = map(__import__, ('os', 'sys'))
            s = os.lstat(sys.argv[1])
            print(oct(s.st_mode), s.st_uid, s.st_gid, *sorted(n + '=' + os.getxattr(sys.argv[1], n).hex() \
            for n in os.listxattr(sys.argv[1])))
            """
        let process = try ChildProcess.run("python3", ["-c", script, path])
        try #require(process.status == 0, "\(process.errorText)")
        return Attributes(description: process.outputText)
    }

    /// Sets attributes that a new file would not have, as far as this user and the file system allow it.
    private func mark(_ path: String) throws {
        let script = """
            os, sys = map(__import__, ('os', 'sys'))
            path, acl = sys.argv[1], bytes.fromhex(sys.argv[2])
            os.chmod(path, 0o640)
            if os.getuid() == 0: os.chown(path, 12345, 23456)
            else: print('not the superuser: the owner stays the same')
            for name, value in ('user.purpose', b'accounts'), ('system.posix_acl_access', acl):
                try: os.setxattr(path, name, value)
                except OSError as error: print('no', name, 'here:', error.strerror)
            """
        let process = try ChildProcess.run("python3", ["-c", script, path, KeptAttributesTests.accessList])
        try #require(process.status == 0, "\(process.errorText)")
        if !process.output.isEmpty { print("kept attributes, not tested: \(process.outputText)") }
    }

    private func make(_ form: FileForm, wal: Bool) throws -> String {
        let path = directory.path("a.db")
        let queue = try DatabaseQueue(
            path: path, configuration: form.configuration.with { $0.journalMode = wal ? .wal : .default })
        try queue.write {
            try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(20000))")
        }
        try queue.close()
        try mark(path)
        return path
    }

    @Test(
        "are kept by each conversion, but decryption removes the access of other users",
        arguments: FileWork.allCases, [false, true])
    func works(work: FileWork, wal: Bool) throws {
        let path = try make(work.before, wal: wal)
        let before = try attributes(of: path)
        #expect(before.description.hasPrefix("0o100640 "))
        #expect(try work.run(path))
        #expect(work.after.isIntact(path))
        let after = try attributes(of: path)
        guard work == .decrypt else {
            #expect(after == before)
            return
        }
        // Users with access to the encrypted file were not able to read its content, so decryption removes
        // their access.
        #expect(after.description.hasPrefix("0o100600 "))
        #expect(!after.description.contains("posix_acl"))
        #expect(after.description.contains("user.purpose") == before.description.contains("user.purpose"))
        let owners = [before, after].map { $0.description.split(separator: " ").dropFirst().prefix(2) }
        #expect(owners[0] == owners[1])
    }

    @Test(
        "stay the same when the key of a database in use changes", arguments: Access.allCases,
        ["copy", "inPlace", "passphrase"])
    func live(access: Access, way: String) throws {
        let path = try make(.encrypted(0x42), wal: false)
        let before = try attributes(of: path)
        let writer = try directory.make(access)
        if way == "passphrase" {
            try writer.barrierWriteWithoutTransaction { try $0.changePassphrase("another one") }
        } else {
            var options = DatabaseFile.RotationOptions()
            options.method = way == "inPlace" ? .inPlace : .copy
            try writer.rotateKey(to: .rawKey([UInt8](repeating: 0x17, count: 32)), options: options)
        }
        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        #expect(try attributes(of: path) == before)
        try writer.close()
        #expect(try attributes(of: path) == before)
    }
}
