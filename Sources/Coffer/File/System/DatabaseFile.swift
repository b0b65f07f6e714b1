/// A database file as an operator sees it: something to look at, to verify, and to give another key.
///
/// Its methods open the file for themselves, and expect that this process has no connection to it: queues and
/// pools have `rotateKey(to:options:progress:)` of their own. Other processes are noticed; see the methods.
///
/// ```swift
/// let file = DatabaseFile(path: path)
/// let result = try file.rotate(from: key, to: next)
/// print(result.isChanged, result.proof?.pageCount ?? 0)
/// ```
///
/// The methods block the current thread. They stop with `CancellationError` when the current task is
/// cancelled, and with the error that a progress function throws, and leave the file as it was then. Other
/// errors are a ``DatabaseFileError``, or a key provider's own.
public struct DatabaseFile: Sendable, Hashable {
    /// The path of the file. It is taken literally: no URI, no expansion.
    public let path: String

    /// Names a file. Nothing is opened.
    public init(path: String) {
        self.path = path
    }
}

// MARK: - Progress

extension DatabaseFile {
    /// What a long operation on a file does now, and how far it is.
    public struct Progress: Sendable, Hashable {
        /// The parts of the operation, in their order. Not every operation has all of them.
        public enum Phase: String, Sendable, Hashable, CaseIterable {
            /// Pages or rows are copied.
            case copying
            /// The pages of the copy are checked and compared.
            case verifying
            /// The engine checks the structure.
            case checkingStructure
            /// The copy is made permanent, and takes its place.
            case publishing
        }

        /// What is done now.
        public var phase: Phase

        /// How many pages of this phase are done.
        public var completedPageCount: Int

        /// How many pages this phase has. Zero where the engine does not say.
        public var totalPageCount: Int

        /// How often the copy was brought up to date, in a rotation while the database is in use: see
        /// ``DatabaseFile/RotationOptions/whileInUse``. The first copy is round 0, as is all other work.
        public var round = 0

        /// How large the write-ahead log is, in bytes, in a rotation while the database is in use. Zero for
        /// other work.
        public var logSize: Int64 = 0

        /// Creates a report, for tests of what is done with one.
        public init(phase: Phase, completedPageCount: Int, totalPageCount: Int) {
            self.phase = phase
            self.completedPageCount = completedPageCount
            self.totalPageCount = totalPageCount
        }
    }

    /// Called with the progress, on the thread that does the work. Throws to end it, which leaves the file as
    /// it was.
    public typealias ProgressFunction = (Progress) throws -> Void
}

/// Reports progress, and ends the work when the receiver or the current task wants that.
struct ProgressReport {
    private let function: DatabaseFile.ProgressFunction?
    private let isCancellable: Bool

    init(_ function: DatabaseFile.ProgressFunction?, isCancellable: Bool = true) {
        self.function = function
        self.isCancellable = isCancellable
    }

    /// The same, with more in each step than its phase and its pages.
    func noting(_ body: @escaping (inout DatabaseFile.Progress) throws -> Void) -> ProgressReport {
        let noted: DatabaseFile.ProgressFunction = { [function] step in
            var step = step
            try body(&step)
            try function?(step)
        }
        return ProgressReport(noted, isCancellable: isCancellable)
    }

    func callAsFunction(_ phase: DatabaseFile.Progress.Phase, _ completed: Int, of total: Int) throws {
        if isCancellable && Task.isCancelled { throw CancellationError() }
        try function?(
            DatabaseFile.Progress(phase: phase, completedPageCount: completed, totalPageCount: total))
    }
}
