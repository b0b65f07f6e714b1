import Coffer
public import Foundation

/// The kinds of work that convert a closed file to a new form in place.
public enum FileWork: String, CaseIterable, Sendable {
    case rotate, rotateInPlace, upgrade, encrypt, decrypt

    public var before: FileForm {
        switch self {
        case .rotate, .rotateInPlace, .decrypt: .encrypted(0x42)
        case .upgrade: .encrypted(0x42, format: 3)
        case .encrypt: .plaintext
        }
    }

    public var after: FileForm {
        switch self {
        case .rotate, .rotateInPlace: .encrypted(0x17)
        case .upgrade, .encrypt: .encrypted(0x42)
        case .decrypt: .plaintext
        }
    }

    /// - Parameter patience: the time to wait for other users of the file, in seconds.
    /// - Returns: false if the file had its new form already.
    @discardableResult
    public func run(_ path: String, patience: TimeInterval = 0) throws -> Bool {
        let file = DatabaseFile(path: path)
        var rotation = DatabaseFile.RotationOptions()
        rotation.lockTimeout = patience
        rotation.method = self == .rotateInPlace ? .inPlace : .copy
        var options = DatabaseFile.ConversionOptions()
        options.lockTimeout = patience
        guard let key = before.key ?? after.key else { return false }
        switch self {
        case .rotate, .rotateInPlace:
            return try file.rotate(from: key, to: after.key ?? key, options: rotation).isChanged
        case .upgrade: return try file.upgrade(key: key, options: options).isChanged
        case .encrypt: return try file.encrypt(key: key, options: options).isChanged
        case .decrypt:
            return try file.decrypt(key: key, confirming: .contentBecomesReadableByAnyone, options: options)
                .isChanged
        }
    }

    /// The named steps of the work, in order: see `FailPoint`.
    public var steps: [String] {
        guard self != .rotateInPlace else {
            return ["note-made", "journal-left", "rekeyed", "reopened", "note-removed"]
        }
        return stepsBefore + [
            "renamed", "directory-synchronized", "reopened", "audited", "note-removed",
        ]
    }

    private var stepsBefore: [String] {
        [
            "note-made", "journal-left", "locked", "copy-created", "copying", "copied", "verified",
            "copy-synchronized",
        ]
    }

    /// Returns true if the file has its new form at this step.
    public func isDone(at step: String) -> Bool {
        guard self != .rotateInPlace else { return !["note-made", "journal-left"].contains(step) }
        return !stepsBefore.contains(step)
    }
}
