internal import SQLCipherBridge

/// How far a backup has come.
public struct DatabaseBackupProgress: Sendable {
    /// How many pages are not copied yet.
    public let remainingPageCount: Int

    /// How many pages the source has.
    public let totalPageCount: Int

    /// How many pages are copied.
    public var completedPageCount: Int { totalPageCount - remainingPageCount }

    /// Whether the backup is complete.
    public let isCompleted: Bool
}

extension Database {
    /// Copies the content of this database into another one, which keeps its own key.
    ///
    /// - Parameters:
    ///   - destDb: what it contained is lost. The copy has what this database contains at the end of the backup.
    ///   - pagesPerStep: how many pages are copied between two calls of `progress`; all of them if negative. A write by another
    ///     connection between two steps makes the backup start again.
    ///   - progress: throws to end the backup, which leaves the destination without content unless it was the last step.
    /// - Throws: `SQLITE_MISUSE` before anything is written when one is encrypted and the other is not, or when their page sizes
    ///   or cipher settings differ: the engine would make a file that cannot be opened.
    public func backup(
        to destDb: Database, pagesPerStep: CInt = -1, progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        checkIsUsedInItsAccess()
        destDb.checkIsUsedInItsAccess()
        guard !isClosed, !destDb.isClosed else { throw DatabaseError.connectionIsClosed() }
        try checkCanBackUp(to: destDb)
        do {
            let backup = try BackupHandle(from: handle, to: destDb.handle)
            try copy(backup, pagesPerStep: pagesPerStep, progress: progress)
        } catch let error as EngineError {
            throw DatabaseError(error)
        }
        destDb.clearSchemaCache()
    }

    private func copy(
        _ backup: consuming BackupHandle, pagesPerStep: CInt, progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        while true {
            let result = backup.step(pages: pagesPerStep)
            let remaining = backup.remainingPageCount
            let total = backup.totalPageCount
            switch result {
            case .more:
                try progress?(DatabaseBackupProgress(remainingPageCount: remaining, totalPageCount: total, isCompleted: false))
            case .done:
                try backup.finish()
                // The copy is made: an error of the last report cannot undo it.
                try? progress?(DatabaseBackupProgress(remainingPageCount: remaining, totalPageCount: total, isCompleted: true))
                return
            case .failed(let code):
                let message = ConnectionHandle.describe(code)
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
            }
        }
    }

    private func checkCanBackUp(to destination: Database) throws {
        guard isEncrypted == destination.isEncrypted else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: isEncrypted
                    ? "An encrypted database cannot be backed up into one without a key. Give the destination a key."
                    : "A database without a key cannot be backed up into an encrypted one. Encrypt it instead.")
        }
        guard isEncrypted else { return }
        let mine = pageLayout
        let theirs = destination.pageLayout
        guard mine == theirs else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    The page layouts differ (\(mine.pageSize) bytes with \(mine.usesHMAC ? "HMAC" : "no HMAC") here, \
                    \(theirs.pageSize) bytes with \(theirs.usesHMAC ? "HMAC" : "no HMAC") there): open the destination with the \
                    cipher settings of the source.
                    """)
        }
    }

    /// Whether a key was set.
    var isEncrypted: Bool {
        if case .encrypted = protection { true } else { false }
    }

    private struct PageLayout: Equatable {
        var pageSize: Int
        var usesHMAC: Bool
        var hmacAlgorithm: CipherSettings.HashAlgorithm
    }

    private var pageLayout: PageLayout {
        let cipher = configuration.cipher
        return PageLayout(pageSize: cipher.pageSize, usesHMAC: cipher.usesHMAC, hmacAlgorithm: cipher.hmacAlgorithm)
    }
}
