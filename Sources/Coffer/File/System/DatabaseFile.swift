/// A database file from an operator's point of view: a file to inspect, to verify, and to give another key.
///
/// Its methods open the file themselves, and require that this process has no connection to it: queues and
/// pools have their own `rotateKey(to:options:progress:)`. Other processes are detected, as described for
/// each method.
///
/// ```swift
/// let file = DatabaseFile(path: path)
/// let result = try file.rotate(from: key, to: next)
/// print(result.isChanged, result.proof?.pageCount ?? 0)
/// ```
///
/// The methods block the current thread. If the current task is canceled, they throw `CancellationError`; if
/// a progress function throws, they throw its error. In both cases the file stays unchanged. Other errors are
/// a ``DatabaseFileError``, or a key provider's own.
public struct DatabaseFile: Sendable, Hashable {
    /// The path of the file. It is taken literally: no URI, no expansion.
    public let path: String

    /// Creates a value for the file at a path. Nothing is opened.
    public init(path: String) {
        self.path = path
    }
}

// MARK: - Progress

extension DatabaseFile {
    /// The current phase and progress of a long operation on a file.
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

        /// The current phase.
        public var phase: Phase

        /// The number of completed pages of this phase.
        public var completedPageCount: Int

        /// The number of pages of this phase. Zero if the engine does not report it.
        public var totalPageCount: Int

        /// The number of times that the copy was brought up to date, in a rotation of a database in use: see
        /// ``DatabaseFile/RotationOptions/whileInUse``. The first copy is round 0, as is all other work.
        public var round = 0

        /// The size of the write-ahead log, in bytes, in a rotation of a database in use. Zero for other
        /// work.
        public var logSize: Int64 = 0

        /// Creates a report, for tests of progress functions.
        public init(phase: Phase, completedPageCount: Int, totalPageCount: Int) {
            self.phase = phase
            self.completedPageCount = completedPageCount
            self.totalPageCount = totalPageCount
        }
    }

    /// A function that is called with the progress, on the thread that does the work. It throws to end the
    /// work, and the file then stays unchanged.
    public typealias ProgressFunction = (Progress) throws -> Void
}

/// Reports progress, and ends the work if the progress function throws or the current task is canceled.
struct ProgressReport {
    private let function: DatabaseFile.ProgressFunction?
    private let isCancellable: Bool

    init(_ function: DatabaseFile.ProgressFunction?, isCancellable: Bool = true) {
        self.function = function
        self.isCancellable = isCancellable
    }

    /// Returns a report that adds more to each step than its phase and its pages.
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
