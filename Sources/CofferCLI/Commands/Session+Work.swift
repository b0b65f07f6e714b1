internal import Coffer

extension Session {
    /// Runs work of the library on a file: a signal ends it at the next report of progress.
    func work<Result>(_ path: String, _ body: (@escaping DatabaseFile.ProgressFunction) throws -> Result) throws -> Result {
        try interruption.cooperatively {
            try body { progress in
                try interruption.check()
                reporter.progress(
                    ProgressState(
                        path: path, phase: progress.phase.words, completed: Int64(progress.completedPageCount),
                        total: Int64(progress.totalPageCount), unit: "pages"))
            }
        }
    }
}

extension DatabaseFile.Progress.Phase {
    fileprivate var words: String {
        switch self {
        case .copying: "copying"
        case .verifying: "verifying"
        case .checkingStructure: "checking structure"
        case .publishing: "publishing"
        }
    }
}
