/// Reports progress, and ends the work when the receiver or the current task wants that.
struct ProgressReport {
    private let function: DatabaseFile.ProgressFunction?

    init(_ function: DatabaseFile.ProgressFunction?) {
        self.function = function
    }

    func callAsFunction(_ phase: DatabaseFile.Progress.Phase, _ completed: Int, of total: Int) throws {
        if Task.isCancelled { throw CancellationError() }
        try function?(DatabaseFile.Progress(phase: phase, completedPageCount: completed, totalPageCount: total))
    }
}
