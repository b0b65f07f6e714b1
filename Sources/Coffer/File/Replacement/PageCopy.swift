internal import SQLCipherBridge

/// Copies a database page by page into one with the same layout of pages and another key: the engine's backup.
enum PageCopy {
    static func run(_ work: ReplacementJob.CopyWork) throws {
        let copy = try work.openCopy()
        do {
            let pageCount = try Int(work.source.firstText(trusted: "PRAGMA main.page_count") ?? "") ?? 0
            // Nobody commits to the source, so that steps cost nothing: they are small enough for progress, and to be ended soon.
            let step = CInt(clamping: min(1024, max(8, pageCount / 64)))
            try run(BackupHandle(from: work.source, to: copy), copy, work, pagesPerStep: step)
        } catch {
            let code = copy.lastSystemError
            copy.closeProbe()
            throw isFull(error, systemError: code) ? DatabaseFileError(.diskFull, path: work.copyPath) : error
        }
        let code = copy.close()
        guard code == EngineCode.ok else {
            copy.closeEventually()
            throw EngineError(code: code, message: "The copy could not be closed")
        }
    }

    private static func run(
        _ backup: consuming BackupHandle, _ copy: ConnectionHandle, _ work: ReplacementJob.CopyWork, pagesPerStep: CInt
    ) throws {
        while true {
            let result = backup.step(pages: pagesPerStep)
            let (remaining, total) = (backup.remainingPageCount, backup.totalPageCount)
            switch result {
            case .more:
                try FailPoint.copying.pass(work.copyPath)
                try work.progress(.copying, total - remaining, of: total)
            case .done:
                try backup.finish()
                try work.progress(.copying, total, of: total)
                return
            case .failed(let code):
                throw EngineError(code: code, message: copy.lastErrorMessage ?? ConnectionHandle.describe(code))
            }
        }
    }

    /// SQLite tells a full disk from other errors of the disk, but not the limit of a user or of a process.
    private static func isFull(_ error: any Error, systemError: Int32) -> Bool {
        guard let error = error as? EngineError, error.code & 0xff == EngineCode.ioError else { return false }
        return SystemFile.isOutOfSpace(systemError)
    }
}
