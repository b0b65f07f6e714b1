internal import Synchronization

/// Keys that many files share: each source is asked once, whatever it answers. A command that is refused by a secret store is not run again
/// for each file.
final class KeyCache: Sendable {
    private final class Slot: Sendable {
        /// Held while the source is asked, so that others wait for its answer.
        let answer = Mutex<Result<Key, Failure>?>(nil)
    }

    private let reader: KeyReader
    private let slots = Mutex<[KeyRequest: Slot]>([:])

    init(_ reader: KeyReader) {
        self.reader = reader
    }

    func key(_ request: KeyRequest, subject: String) throws(Failure) -> Key {
        let slot = slots.withLock { slots in
            let slot = slots[request] ?? Slot()
            slots[request] = slot
            return slot
        }
        let answer = slot.answer.withLock { answer in
            let known = answer ?? self.ask(request, subject: subject)
            answer = known
            return known
        }
        return try answer.get()
    }

    private func ask(_ request: KeyRequest, subject: String) -> Result<Key, Failure> {
        do throws(Failure) {
            return .success(try reader.key(request, subject: subject))
        } catch {
            return .failure(error)
        }
    }
}
