struct FileRotation {
    let path: String
    let oldKey: DatabaseKey
    let newKey: DatabaseKey
    let options: DatabaseFile.RotationOptions

    func plan() throws -> DatabaseFile.RotationPlan { throw DatabaseFileError(.unsupported("Not there yet."), path: path) }

    func run(progress: ProgressReport) throws -> DatabaseFile.RotationResult {
        throw DatabaseFileError(.unsupported("Not there yet."), path: path)
    }
}
