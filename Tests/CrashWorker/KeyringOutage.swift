import Coffer
import CofferTestSupport
import Foundation

/// The keyring changes that `Tests/power-loss` records, and its checks of the states that a power loss may
/// leave. See ``OutageWork`` for the arguments and answers.
///
/// The secrets are raw keys of equal bytes. The database initially has slots for 1, 2, and other secrets. For
/// `keyInit` it has no keyring and a raw key.
enum KeyringOutage: String {
    case keyAdd, keyRemove, keyChange, keyRotate, keyInit

    private static let former = FileForm.encrypted(0x42)
    private static let all: [UInt8] = [1, 2, 3]

    func main(_ arguments: [String]) throws {
        switch arguments[0] {
        case "make": try make(arguments[3], mode: arguments[2])
        case "run":
            try change(DatabaseKeyring(databasePath: arguments[3]))
            KeyringOutage.say("changed")
        case "judge": try judge(mode: arguments[2])
        default: throw CocoaError(.featureUnsupported)
        }
    }

    /// The secrets that open the database before the work.
    private var before: Set<UInt8> { self == .keyInit ? [] : [1, 2] }

    private var after: Set<UInt8> {
        switch self {
        case .keyAdd: [1, 2, 3]
        case .keyRemove, .keyInit: [1]
        case .keyChange: [1, 3]
        case .keyRotate: [1, 2]
        }
    }

    private static func secret(_ byte: UInt8) -> DatabaseKeyring.Secret {
        .rawKey([UInt8](repeating: byte, count: 32))
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    // MARK: - The work

    private func make(_ path: String, mode: String) throws {
        let text = KeyringOutage.former.text
        try RotationWork.make([path, text, "\(OutageWork.transferCount)", mode])
        guard self != .keyInit, let key = KeyringOutage.former.key else { return }
        // The other slots make the keyring several disk blocks long.
        let slots = (before.sorted() + Array(10..<32)).map {
            DatabaseKeyring.NewSlot.secret(KeyringOutage.secret($0), name: "slot of \($0)")
        }
        try DatabaseKeyring(databasePath: path).adopt(slots, key: key)
    }

    private func change(_ keyring: DatabaseKeyring) throws {
        let first = KeyringOutage.secret(1)
        switch self {
        case .keyAdd: try keyring.add(.secret(KeyringOutage.secret(3)), unlockedBy: first)
        case .keyRemove: try keyring.remove(slot: 2, unlockedBy: first)
        case .keyChange: try keyring.change(to: KeyringOutage.secret(3), unlockedBy: KeyringOutage.secret(2))
        case .keyRotate: try keyring.rotateDataKey(unlockedBy: first)
        case .keyInit: try keyring.adopt([.secret(first)], key: KeyringOutage.former.key ?? .random())
        }
    }

    // MARK: - The check

    private struct Loss: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private func judge(mode: String) throws {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 4 else { throw CocoaError(.featureUnsupported) }
            do {
                let opening = try judge(words[0], mode: mode, isDone: words[3] == "1")
                KeyringOutage.say(
                    "good \(opening.isEmpty ? "former" : opening.map(String.init).joined(separator: "+")) \(OutageWork.transferCount)"
                )
            } catch {
                KeyringOutage.say("lost \(error)".replacingOccurrences(of: "\n", with: " "))
            }
        }
    }

    /// Checks that the secrets that open the database are the old or the new ones, and that the next change
    /// completes and leaves nothing.
    private func judge(_ path: String, mode: String, isDone: Bool) throws -> [UInt8] {
        let keyring = DatabaseKeyring(databasePath: path)
        let opening = try secretsThatOpen(path)
        let contents = try? keyring.inspect()
        let hasNewKey = contents?.epoch == 2 && contents?.isRotating == false
        let isChanged = Set(opening) == after && (self != .keyRotate || hasNewKey)
        guard isChanged || Set(opening) == before else { throw Loss("the database is opened by \(opening)") }
        guard isChanged || !isDone else { throw Loss("the work was reported as done, and is not") }
        if self == .keyInit {
            // Exactly one of the two may work: a file that the former key still opens would be a forgotten
            // copy.
            guard KeyringOutage.former.isIntact(path) != isChanged else {
                throw Loss("the former key opens it too, or nothing does")
            }
        } else {
            guard contents?.damage == [] else {
                throw Loss("the keyring is damaged: \(String(describing: contents?.damage))")
            }
        }
        // Repeats the work, or makes another change if the work was done.
        if !isChanged || self == .keyInit {
            try change(keyring)
        } else if self == .keyRotate {
            try keyring.rotateDataKey(unlockedBy: KeyringOutage.secret(2))
        } else {
            try keyring.change(slot: 1, to: KeyringOutage.secret(1), unlockedBy: KeyringOutage.secret(1))
        }
        guard try Set(secretsThatOpen(path)) == after else {
            throw Loss("the next run left slots of \(try secretsThatOpen(path))")
        }
        for byte in after { try keyring.check(unlockedBy: KeyringOutage.secret(byte)) }
        let found = try DatabaseFile(path: path).inspect(key: .keyring(unlockedBy: KeyringOutage.secret(1)))
            .journalMode
        guard found == mode else { throw Loss("the next run left the file in journal mode \(found)") }
        let names = try FileManager.default.contentsOfDirectory(
            atPath: (path as NSString).deletingLastPathComponent
        ).sorted()
        let name = (path as NSString).lastPathComponent
        guard names == [name, "\(name).keys"] else { throw Loss("there are \(names)") }
        return opening
    }

    private func secretsThatOpen(_ path: String) throws -> [UInt8] {
        try KeyringOutage.all.filter { byte in
            var configuration = Configuration()
            configuration.key = .keyring(unlockedBy: KeyringOutage.secret(byte))
            guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else {
                return false
            }
            let last = try queue.read { db in
                try Bank.audit(db)
                return try Bank.lastNumber(db, teller: 1)
            }
            try queue.close()
            guard last == OutageWork.transferCount else { throw Loss("transfer \(last) is the last one") }
            return true
        }
    }
}
