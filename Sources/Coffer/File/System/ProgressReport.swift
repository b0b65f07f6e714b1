/// Reports progress, and ends the work when the receiver or the current task wants that.
struct ProgressReport {
    private let function: DatabaseFile.ProgressFunction?
    private let isCancellable: Bool

    init(_ function: DatabaseFile.ProgressFunction?, isCancellable: Bool = true) {
        self.function = function
        self.isCancellable = isCancellable
    }

    func callAsFunction(_ phase: DatabaseFile.Progress.Phase, _ completed: Int, of total: Int) throws {
        if isCancellable && Task.isCancelled { throw CancellationError() }
        try function?(DatabaseFile.Progress(phase: phase, completedPageCount: completed, totalPageCount: total))
    }
}
