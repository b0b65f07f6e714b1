import Coffer
import CofferTestSupport
import Foundation

/// Measures the cost of keyrings compared to raw keys: `CofferTestWorker keyrings MEGABYTES`. The last part
/// uses a database of that size.
enum KeyringCost {
    private static let rounds = 101
    private static let clock = ContinuousClock()

    static func run(megabytes: Int) throws {
        try withTestDirectory { directory in
            try openings(directory)
            try changes(directory, megabytes: megabytes)
        }
    }

    private static func raw(_ byte: UInt8) -> DatabaseKeyring.Secret {
        .rawKey([UInt8](repeating: byte, count: 32))
    }

    private static func configuration(_ secret: DatabaseKeyring.Secret) -> Configuration {
        var configuration = Configuration()
        configuration.key = .keyring(unlockedBy: secret)
        return configuration
    }

    /// Measures openings, each with a new configuration, so that no key is cached.
    private static func openings(_ directory: TestDirectory) throws {
        let office = try DatabaseKeyring.Identity.random()
        let path = directory.path("keyring.db")
        try DatabaseKeyring(databasePath: path).make([.secret(raw(1)), .recipient(office.recipient)])
        for (name, configuration) in [
            ("plain.db", Configuration.rawKeyed), ("keyring.db", configuration(raw(1))),
        ] {
            let queue = try DatabaseQueue(path: directory.path(name), configuration: configuration)
            try queue.write {
                try $0.execute(sql: "CREATE TABLE item (title TEXT); INSERT INTO item VALUES ('letter')")
            }
            try queue.close()
        }
        func open(_ name: String, _ configuration: Configuration, _ isPool: Bool) throws -> Duration {
            try clock.measure {
                let path = directory.path(name)
                let database: any DatabaseWriter =
                    isPool
                    ? try DatabasePool(path: path, configuration: configuration)
                    : try DatabaseQueue(path: path, configuration: configuration)
                _ = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") }
                try database.close()
            }
        }
        for isPool in [false, true] {
            var (plain, slot, identity): ([Duration], [Duration], [Duration]) = ([], [], [])
            for _ in 0..<rounds {
                plain.append(try open("plain.db", .rawKeyed, isPool))
                slot.append(try open("keyring.db", configuration(raw(1)), isPool))
                identity.append(try open("keyring.db", configuration(office.secret), isPool))
            }
            print(
                "opening a \(isPool ? "pool" : "queue"), a read and closing by a raw key: \(text(plain)), "
                    + "by a raw slot: \(text(slot)), by an identity: \(text(identity))")
        }
    }

    private static func changes(_ directory: TestDirectory, megabytes: Int) throws {
        let path = directory.path("big.db")
        let keyring = DatabaseKeyring(databasePath: path)
        try keyring.make([.secret(raw(1)), .secret(.passphrase("correct horse battery"))])
        let queue = try DatabaseQueue(path: path, configuration: configuration(raw(1)))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE item (content BLOB)")
            for _ in 0..<megabytes { try db.execute(sql: "INSERT INTO item VALUES (randomblob(1000000))") }
        }
        try queue.close()
        let before = try FileManager.default.attributesOfItem(atPath: path)
        var raws: [Duration] = []
        for round in 0..<rounds {
            let (old, new) = round.isMultiple(of: 2) ? (raw(1), raw(2)) : (raw(2), raw(1))
            raws.append(try clock.measure { try keyring.change(slot: 1, to: new, unlockedBy: old) })
        }
        var passphrases: [Duration] = []
        for round in 0..<7 {
            let texts = ["correct horse battery", "another horse battery"]
            passphrases.append(
                try clock.measure {
                    try keyring.change(
                        to: .passphrase(texts[(round + 1) % 2]), unlockedBy: .passphrase(texts[round % 2]))
                })
        }
        let after = try FileManager.default.attributesOfItem(atPath: path)
        guard before[.modificationDate] as? Date == after[.modificationDate] as? Date,
            before[.size] as? Int == after[.size] as? Int
        else {
            throw CocoaError(.fileWriteUnknown)
        }
        print(
            "a database of \(after[.size] ?? 0) bytes: another raw slot: \(text(raws)), another passphrase: \(text(passphrases)), its file was not written"
        )
    }

    /// Formats the median, the minimum and the maximum.
    private static func text(_ durations: [Duration]) -> String {
        let sorted = durations.sorted().map {
            String(
                format: "%.2f", Double($0.components.attoseconds) / 1e15 + Double($0.components.seconds) * 1e3
            )
        }
        return "\(sorted[sorted.count / 2]) ms (\(sorted[0]) to \(sorted[sorted.count - 1]))"
    }
}
