internal import Synchronization
internal import SystemCalls

/// Makes only one thread at a time ask about the users of a file: each question opens the file, and a
/// simultaneous one would see that.
///
/// There is one lock for each file, so a network file system that does not respond blocks no question about
/// other files.
final class FileQuestions: Sendable {
    static let shared = FileQuestions()

    private final class Question: Sendable {
        let lock = Mutex(())
    }

    /// The current questions, each with the number of threads that ask or wait.
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
