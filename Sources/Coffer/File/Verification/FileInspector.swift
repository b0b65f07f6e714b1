internal import SQLCipherBridge

/// Looks at a file without a key, and into it with one, and changes nothing.
struct FileInspector {
    let path: String

    func inspect() throws(DatabaseFileError) -> DatabaseFile.Inspection {
        guard let status = try SystemFile.status(path, followsLinks: true) else { throw DatabaseFileError(.missing, path: path) }
        guard status.isRegular else { throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path) }
        let file = try SystemFile.resolved(path)
        let header = try header(of: file)
        let kind: DatabaseFile.Inspection.Kind =
            if header.isEmptyFile {
                .empty
            } else if header.hasSQLiteMagic {
                header.isPlaintext(plaintextHeaderSize: 32) ? .plaintext : .encrypted
            } else if header.cannotBeEncrypted(plaintextHeaderSize: 0) {
                .notADatabase
            } else {
                .encrypted
            }
        let pageSize = pageSize(kind, header, size: status.size)
        return try DatabaseFile.Inspection(
            kind: kind, size: status.size, pageSize: pageSize, isPageSizeGuessed: pageSize != nil && !header.hasSQLiteMagic,
            salt: kind == .encrypted && !header.hasSQLiteMagic ? header.salt : nil, companions: companions(of: file),
            linkCount: status.linkCount, userID: status.userID, groupID: status.groupID, mode: status.permissions,
            leftovers: ReplacementNames.leftovers(of: file))
    }

    /// SQLite reads the header, by its own descriptor: one of ours would drop the locks of this process when it is closed.
    private func header(of file: String) throws(DatabaseFileError) -> FileHeader {
        do throws(EngineError) {
            let connection = try EngineConnection(path: file, flags: .readOnly)
            return try FileHeader(connection.handle, count: FileHeader.longestPage)
        } catch {
            throw DatabaseFileError(error, path: path)
        }
    }

    private func pageSize(_ kind: DatabaseFile.Inspection.Kind, _ header: FileHeader, size: Int64) -> Int? {
        guard kind == .encrypted || kind == .plaintext else { return nil }
        guard !header.hasSQLiteMagic || header.start.count < 18 else {
            let stored = Int(header.start[16]) << 8 | Int(header.start[17])
            return stored == 1 ? 65536 : stored
        }
        return [4096, 1024].first { size.isMultiple(of: Int64($0)) }
    }

    private func companions(of file: String) throws(DatabaseFileError) -> [DatabaseFile.Inspection.Companion] {
        var result: [DatabaseFile.Inspection.Companion] = []
        for role in DatabaseFile.Inspection.Companion.Role.allCases {
            guard let status = try SystemFile.status(file + role.suffix) else { continue }
            result.append(DatabaseFile.Inspection.Companion(role: role, size: status.size))
        }
        return result
    }
}
