internal import SQLCipherBridge
internal import Synchronization

/// Lets one thread at a time ask about a file: each question opens it, and another one would see that.
///
/// One for each file: a file system of the network that does not answer keeps no question about others
/// waiting.
final class FileQuestions: Sendable {
    static let shared = FileQuestions()

    private final class Question: Sendable {
        let lock = Mutex(())
    }

    /// Those that are asked now, with the number of threads that ask or wait.
    private let open = Mutex<[FileIdentity: (question: Question, threads: Int)]>([:])

    func oneAtATime<Answer: Sendable>(about file: FileStatus, _ ask: () -> Answer) -> Answer {
        let identity = file.identity
        let question = open.withLock { open in
            let entry = open[identity] ?? (Question(), 0)
            open[identity] = (entry.question, entry.threads + 1)
            return entry.question
        }
        defer {
            open.withLock { open in
                guard let entry = open[identity] else { return }
                open[identity] = entry.threads > 1 ? (entry.question, entry.threads - 1) : nil
            }
        }
        return question.lock.withLock { _ in ask() }
    }
}
