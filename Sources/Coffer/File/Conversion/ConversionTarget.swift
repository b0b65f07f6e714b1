/// The destination of the result of a conversion.
protocol ConversionTarget {
    /// The path of the new file; nil if the result replaces the source.
    var newPath: String? { get }

    /// The path of the file that the result has replaced, if it was kept.
    var keptOldPath: String? { get }

    /// Makes the result.
    func make(
        _ conversion: FileConversion, _ progress: ProgressReport, since start: ContinuousClock.Instant
    ) throws -> DatabaseFile.ConversionResult

    /// Checks that the result can be made, and returns the room for it.
    ///
    /// - Parameter isAlreadyDone: true if the source has the requested form already.
    func room(for conversion: FileConversion, isAlreadyDone: Bool) throws -> CopyRoom

    /// Returns all steps, in words.
    ///
    /// - Parameter copying: the steps that make and verify the copy.
    func steps(copying: [String], from path: String) -> [String]
}

/// The place of the source, which the result replaces under a note of this operation.
struct PlaceOfSource: ConversionTarget {
    let operation: ReplacementOperation
    let keptOldPath: String?
    var newPath: String? { nil }

    func make(
        _ conversion: FileConversion, _ progress: ProgressReport, since start: ContinuousClock.Instant
    ) throws -> DatabaseFile.ConversionResult {
        let path = conversion.path
        var job = job(conversion)
        if let audit = conversion.options.audit {
            job.audit = { proof in try audit(conversion.result(proof, path: path, since: start)) }
        }
        let done = try FileReplacement(job, progress: progress).run()
        var answer = conversion.result(done.proof, path: path, since: start)
        (answer.isChanged, answer.isResumed) = (done.isChanged, done.isResumed)
        if !done.isChanged { answer.keptOldPath = nil }
        return answer
    }

    private func job(_ conversion: FileConversion) -> ReplacementJob {
        ReplacementJob(
            operation: operation, change: conversion.change, method: RowCopy(prepare: conversion.prepare),
            keepsKey: operation == .vacuum, lockTimeout: conversion.options.lockTimeout,
            keepOldPath: keptOldPath)
    }

    func room(for conversion: FileConversion, isAlreadyDone: Bool) throws -> CopyRoom {
        let examined = try ExaminedFile(job(conversion), progress: ProgressReport(nil))
        if !isAlreadyDone { try examined.checkKeptPath() }
        return examined.room
    }

    func steps(copying: [String], from path: String) -> [String] {
        [
            "open \(path) and roll back or replay the work of an interrupted process",
            "create a note next to it",
            "leave WAL mode and lock the file",
        ] + copying + [
            "sync the copy to disk, and replace the file with it",
            "restore the journal mode, and remove the note",
        ]
    }
}

extension NewFilePlace: ConversionTarget {
    var newPath: String? { path }
    var keptOldPath: String? { nil }

    func make(
        _ conversion: FileConversion, _ progress: ProgressReport, since start: ContinuousClock.Instant
    ) throws -> DatabaseFile.ConversionResult {
        try conversion.copy(progress: progress, since: start) { try $0.make(from: $1, at: self) }
    }

    func room(for conversion: FileConversion, isAlreadyDone: Bool) throws -> CopyRoom {
        guard try name != nil || SystemFile.status(path) == nil else {
            throw DatabaseFileError(.exists, path: path)
        }
        return try conversion.room(at: path)
    }

    func steps(copying: [String], from path: String) -> [String] {
        let last =
            name == nil
            ? "give the copy its name, which must still be free" : "give the copy a name with the date"
        return copying + [last]
    }
}

/// A file without a name in a folder, whose content is passed to a function.
struct StreamedFile: ConversionTarget {
    let folder: String
    let write: ([UInt8]) throws -> Void

    private var path: String { "\(folder)/backup" }
    var newPath: String? { path }
    var keptOldPath: String? { nil }

    func make(
        _ conversion: FileConversion, _ progress: ProgressReport, since start: ContinuousClock.Instant
    ) throws -> DatabaseFile.ConversionResult {
        try conversion.copy(progress: progress, since: start) {
            try $0.make(from: $1, inFolder: folder, write)
        }
    }

    func room(for conversion: FileConversion, isAlreadyDone: Bool) throws -> CopyRoom {
        try conversion.room(at: path)
    }

    func steps(copying: [String], from path: String) -> [String] {
        copying + ["write the copy to its reader, and delete it"]
    }
}

extension RestoredPlace: ConversionTarget {
    var newPath: String? { path }
    var keptOldPath: String? { keptFile }

    func make(
        _ conversion: FileConversion, _ progress: ProgressReport, since start: ContinuousClock.Instant
    ) throws -> DatabaseFile.ConversionResult {
        try check(conversion)
        return try conversion.copy(progress: progress, since: start) { content, source in
            let keyBefore = try conversion.change.before.key(of: FileHeader(source))
            return try fill(content, from: source) { made in
                try conversion.options.audit?(
                    conversion.result(made, keyBefore: keyBefore, since: start))
            }
        }
    }

    private func check(_ conversion: FileConversion) throws {
        try checkIsNot(conversion.path)
        try checkIsFree()
    }

    func room(for conversion: FileConversion, isAlreadyDone: Bool) throws -> CopyRoom {
        try check(conversion)
        return try conversion.room(at: path)
    }

    func steps(copying: [String], from path: String) -> [String] {
        guard isOccupied else { return copying + ["give it its name"] }
        return copying + [
            "rename the existing file, and its log or journal, to \(keptPath)", "put the copy in its place",
        ]
    }
}
