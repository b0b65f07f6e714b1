import Coffer

/// The outcome of using Coffer. Both are good, as long as no plaintext was written.
public enum Outcome: Sendable {
    /// Coffer uses SQLCipher of this version.
    case encrypted(cipherVersion: String)
    /// Coffer refused to open the file, with this typed reason.
    case refused(reason: String)
}

public struct Failure: Error {
    public var message: String
    public init(_ message: String) { self.message = message }
}

/// Writes `text` to an encrypted file, reads it back, and returns the engine that did it.
public func prove(path: String, text: String) throws -> Outcome {
    var configuration = Configuration()
    configuration.key = .passphrase("correct horse battery staple")
    do {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (text TEXT NOT NULL)")
            try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: [text])
        }
        let (found, version) = try queue.read { db in
            (
                try String.fetchAll(db, sql: "SELECT text FROM note"),
                try String.fetchOne(db, sql: "PRAGMA cipher_version")
            )
        }
        guard found == [text] else { throw Failure("read \(found), not what was written") }
        guard let version else { throw Failure("Coffer opened a keyed file on an engine without a cipher") }
        try queue.close()
        return .encrypted(cipherVersion: version)
    } catch let error as DatabaseError where error.encryptionFailure == .engineWithoutCipher {
        return .refused(reason: "\(error)")
    }
}
