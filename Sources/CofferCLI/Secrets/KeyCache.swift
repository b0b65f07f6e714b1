internal import Synchronization

/// Keys that many files share: each source is asked once, whatever it answers. A command that is refused by a
/// secret store is not run again for each file.
final class KeyCache: Sendable {
    private final class Slot: Sendable {
        /// Held while the source is asked, so that others wait for its answer.
        let answer = Mutex<Result<Key, Failure>?>(nil)
    }

    private let reader: KeyReader
    private let subject: String
    private let slots = Mutex<[KeyRequest: Slot]>([:])

    /// - Parameter subject: what the keys are for, in words.
    init(_ reader: KeyReader, subject: String) {
        self.reader = reader
        self.subject = subject
    }

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
