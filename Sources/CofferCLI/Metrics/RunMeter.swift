internal import Synchronization

/// The results of a run, apart from its exit code.
final class RunMeter: Sendable {
    /// The result for one file.
    struct FileResult: Sendable {
        let status: ExitStatus
        let seconds: Double
    }

    /// The result for a list of files.
    struct BatchResult: Sendable {
        let files: Int
        let failed: Int
        let bytes: Int64
    }

    private struct State {
        /// Keyed by the bytes of the paths, because strings that compare equal may have different bytes.
        var files: [[UInt8]: FileResult] = [:]
        var batch: BatchResult?
    }

    private let began = ContinuousClock.now
    private let state = Mutex(State())

    var seconds: Double { (ContinuousClock.now - began) / .seconds(1) }
    var batch: BatchResult? { state.withLock { $0.batch } }

    func result(of path: String) -> FileResult? { state.withLock { $0.files[Array(path.utf8)] } }

    func note(_ status: ExitStatus, of path: String, since start: ContinuousClock.Instant) {
        let result = FileResult(status: status, seconds: (ContinuousClock.now - start) / .seconds(1))
        state.withLock { $0.files[Array(path.utf8)] = result }
    }

    func note(_ batch: BatchResult) { state.withLock { $0.batch = batch } }
}
