internal import Synchronization

/// Keys that many files share. Each source is read once, and errors are cached too, so a command that a
/// secret store has refused is not run again for each file.
final class KeyCache: Sendable {
    private final class Slot: Sendable {
        /// Locked while the source is read, so that other threads wait for the result.
        let answer = Mutex<Result<Key, Failure>?>(nil)
    }

    private let reader: KeyReader
    private let subject: String
    private let slots = Mutex<[KeyRequest: Slot]>([:])

    /// - Parameter subject: a description of the files, for prompts.
    init(_ reader: KeyReader, subject: String) {
        self.reader = reader
        self.subject = subject
    }

    /// The time to wait for locks of the database that a key is tried on, in seconds.
    var lockTimeout: Double { reader.lockTimeout }

    func key(_ request: KeyRequest) throws(Failure) -> Key {
        let slot = slots.withLock { slots in
            let slot = slots[request] ?? Slot()
            slots[request] = slot
            return slot
        }
        let answer = slot.answer.withLock { answer in
            let known = answer ?? self.ask(request)
            answer = known
            return known
        }
        return try answer.get()
    }

    private func ask(_ request: KeyRequest) -> Result<Key, Failure> {
        do throws(Failure) {
            return .success(try reader.key(request, subject: subject))
        } catch {
            return .failure(error)
        }
    }
}
