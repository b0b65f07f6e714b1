internal import Coffer
internal import Glibc
internal import KeyMaterial
internal import SystemCalls

/// A file that this process, and no other, has created.
struct NewFile: ~Copyable {
    let path: String
    /// The name of the file until it is published.
    private let name: String
    private let descriptor: Descriptor
    private let isUnnamed: Bool

    static func exists(_ path: String) -> Bool { (try? FileStatus(path)) != nil }

    /// Throws if the file exists, or if SQLite or Coffer could remove a file of its name.
    static func checkIsNew(_ path: String) throws(Failure) {
        try checkName(path)
        if exists(path) { throw isThere(path).about(path) }
    }

    /// Throws if SQLite or Coffer could remove a file of this name.
    static func checkName(_ path: String) throws(Failure) {
        try FileNames.checkIsNoMemory(path)
        if let objection = DatabaseFile.objection(toNameOf: path) {
            throw Failure.usage("'\(path)' cannot be created: \(objection)")
        }
    }

    static func isThere(_ path: String) -> Failure {
        Failure(.outputExists, "output_exists", "'\(path)' exists, and is not overwritten.")
    }

    /// - Parameter comesWhole: true if the file gets its name when it is published, so a partial file is
    ///   never mistaken for a complete one. Until then it has no name, and disappears if the process is
    ///   killed, or a temporary name on file systems that do not support this.
    init(_ path: String, comesWhole: Bool = false) throws(Failure) {
        self.path = path
        let number = String(UInt64.random(in: 0 ... .max), radix: 16)
        name = comesWhole ? "\(FileNames.folder(of: path))/\(NewFile.partPrefix)\(number).tmp" : path
        descriptor = try comesWhole ? NewFile.makeWithoutName(name, for: path) : NewFile.make(path, for: path)
        isUnnamed = (try? descriptor.status().linkCount) == 0
    }

    /// Creates a file without a name, or with a temporary one.
    private static func makeWithoutName(_ name: String, for final: String) throws(Failure) -> Descriptor {
        try checkIsNew(final)
        if let file = Descriptor.unnamed(for: name, mode: 0o600) { return file }
        do throws(Failure) { return try make(name, for: final) } catch {
            throw Failure(
                error.status, error.reason, error.message.replacing("'\(name)'", with: "'\(final)'"))
        }
    }

    /// The prefix for the names of incomplete files.
    static let partPrefix = ".coffer-part-"

    /// Creates a file that only its owner can read, for content that will have the path `final`.
    static func make(_ path: String, for final: String) throws(Failure) -> Descriptor {
        try checkIsNew(final)
        do throws(Errno) {
            return try Descriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        } catch {
            throw Failure(error, "'\(path)' cannot be created", missing: .outputExists, denied: .outputExists)
        }
    }

    func write(_ secret: borrowing SecretBytes) throws(Failure) {
        try Failure.explaining("'\(path)' cannot be written") { () throws(Errno) in
            try secret.withUnsafeBytes { bytes throws(Errno) in
                try unsafe Descriptor.write(bytes, to: descriptor.number)
            }
        }
    }

    func write(bytes: [UInt8]) throws(Failure) {
        try Failure.explaining("'\(path)' cannot be written") { () throws(Errno) in
            try Descriptor.write(bytes.span, to: descriptor.number)
        }
    }

    /// Creates a file with a secret, and syncs it to disk.
    static func write(_ secret: borrowing SecretBytes, to path: String) throws(Failure) {
        let file = try NewFile(path)
        do throws(Failure) {
            try file.write(secret)
            try file.publish()
        } catch {
            file.remove()
            throw error
        }
    }

    /// Syncs the file and its name to disk.
    func publish() throws(Failure) {
        do throws(Errno) {
            try descriptor.synchronize()
            if name != path { try takeName() }
            try Descriptor.synchronizeFolder(of: path)
        } catch {
            guard error.code != EEXIST else { throw NewFile.isThere(path) }
            throw Failure(error, "'\(path)' cannot be synced to the disk")
        }
    }

    /// Gives the file its final name, which must not exist.
    private func takeName() throws(Errno) {
        guard !isUnnamed else {
            try descriptor.link(to: path)
            // File systems may ignore a sync of a file without a name (btrfs).
            return try descriptor.synchronize()
        }
        if unsafe link(name, path) == 0 {
            unsafe unlink(name)
            return
        }
        let error = Errno.last
        // Some file systems do not support hard links.
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(error.code), !NewFile.exists(path) else {
            throw error
        }
        try systemCall("rename") { unsafe rename(name, path) }
    }

    var isEmpty: Bool { (try? descriptor.status().size) == 0 }

    /// Removes the file, unless its name leads to another file now.
    func remove() {
        guard let named = try? FileStatus(name), let own = try? descriptor.status(), own.isSameFile(as: named)
        else { return }
        unsafe unlink(name)
    }
}
