internal import Synchronization

/// Keys that many files share: each is read once, and a command that gives one runs once.
final class KeyCache: Sendable {
    private let reader: KeyReader
    private let keys = Mutex<[KeyRequest: Key]>([:])

    init(_ reader: KeyReader) {
        self.reader = reader
    }

    func key(_ request: KeyRequest, subject: String) throws(Failure) -> Key {
        if let known = keys.withLock({ $0[request] }) { return known }
        let key = try reader.key(request, subject: subject)
        keys.withLock { $0[request] = key }
        return key
    }
}
