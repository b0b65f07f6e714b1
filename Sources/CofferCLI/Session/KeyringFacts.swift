internal import Coffer

/// The keyring next to a database, as far as it can be read without a secret.
struct KeyringFacts {
    let path: String
    /// Nil if no slot can be read.
    let slotCount: Int?
    /// The damage, as the rest of a sentence about the keyring, or nil if both of its copies are intact.
    let damage: String?

    var name: String { FileNames.name(of: path) }

    /// Returns nil if the database has no keyring.
    init?(of database: String) {
        let keyring = DatabaseKeyring(databasePath: database)
        guard NewFile.exists(keyring.path) else { return nil }
        path = keyring.path
        do {
            let contents = try keyring.inspect()
            slotCount = contents.slots.count
            damage = contents.damage.isEmpty ? nil : "is damaged in one of its two copies"
        } catch {
            slotCount = nil
            damage = "cannot be used: \(KeyringFacts.words(Failure(error), path))"
        }
    }

    /// Returns the message without the path and the period, as part of a sentence.
    private static func words(_ failure: Failure, _ path: String) -> String {
        let prefix = "\(path): "
        let words =
            failure.message.hasPrefix(prefix) ? failure.message.dropFirst(prefix.count) : failure.message[...]
        return String(words.hasSuffix(".") ? words.dropLast() : words)
    }

    /// The action against the damage.
    var advice: String {
        slotCount == nil
            ? "If the database had a keyring, put a copy back with 'coffer key restore-header', or from a "
                + "backup. Until then, only the database's own key opens it, and no secret of a keyring."
            : "Run 'coffer key change' before the other copy is lost, also with the same secret: each change "
                + "writes both."
    }

    /// The members of JSON objects about the database.
    var json: JSONObject { ["keyring": path, "keyring_slots": slotCount, "keyring_damage": damage] }

    /// The keyring in one line.
    var line: String {
        let slots = slotCount.map { ", \(counted: $0, "slot")" } ?? ""
        return name + slots + (damage.map { ": \($0)" } ?? "")
    }
}

extension Session {
    /// Returns the failure of work on a file. If the key is wrong, the message tells of the file's keyring.
    func failure(_ error: any Error, on path: String?) -> Failure {
        let failure = failure(error)
        guard let path, failure.reason == "wrong_key", !failure.message.contains(".keys: "),
            let keyring = KeyringFacts(of: path)
        else { return failure }
        return failure.adding(
            "The file has a keyring (\(keyring.name)): open it with --unlock file:PATH or another source, or "
                + "with --unlock for a prompt.")
    }
}
