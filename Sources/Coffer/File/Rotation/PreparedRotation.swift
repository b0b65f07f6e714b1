/// A rotation whose keys were tried on the file, and that has changed nothing yet.
///
/// For work on many files, none of which is to be touched before the keys of all have proved right. What was derived from the keys is kept
/// until the life of this value ends, so that nothing is derived twice.
package struct PreparedRotation: Sendable {
    private let rotation: FileRotation

    /// What the rotation found, and would do.
    package let plan: DatabaseFile.RotationPlan

    fileprivate init(_ rotation: FileRotation) throws {
        self.rotation = rotation
        plan = try rotation.plan()
    }

    /// Rotates: see ``DatabaseFile/rotate(from:to:options:progress:)``.
    ///
    /// Whatever happened to the file meanwhile is noticed as it would be without the preparation.
    package func run(
        audit: (@Sendable (DatabaseFile.RotationResult) throws -> Void)? = nil, progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        var rotation = rotation
        rotation.options.audit = audit
        return try rotation.run(progress: ProgressReport(progress))
    }
}

extension DatabaseFile {
    /// Tries the keys of a rotation, and makes its plan. Nothing is changed.
    package func prepareRotation(
        from oldKey: DatabaseKey, to newKey: DatabaseKey, options: RotationOptions = RotationOptions()
    ) throws -> PreparedRotation {
        try PreparedRotation(FileRotation(path: path, oldKey: oldKey, newKey: newKey, options: options))
    }
}
