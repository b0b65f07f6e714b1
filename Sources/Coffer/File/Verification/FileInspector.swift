internal import Foundation
internal import SQLCipherBridge
internal import SystemCalls

/// Inspects a file, with or without a key, and changes nothing.
struct FileInspector {
    let path: String

    func inspect() throws(DatabaseFileError) -> DatabaseFile.Inspection {
        let status = try SystemFile.regularFile(path, followsLinks: true)
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
            kind: kind, size: status.size, pageSize: pageSize,
            isPageSizeGuessed: pageSize != nil && !header.hasSQLiteMagic,
            salt: kind == .encrypted && !header.hasSQLiteMagic ? header.salt : nil,
            companions: companions(of: file),
            linkCount: status.linkCount, userID: status.userID, groupID: status.groupID,
            mode: status.permissions,
            leftovers: ReplacementNames.leftovers(of: file))
    }

    /// Reads the header through SQLite's descriptor: closing a descriptor of our own would drop the locks of
    /// this process.
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
        guard header.hasSQLiteMagic, let stated = header.statedPageSize else {
            return [4096, 1024].first { size.isMultiple(of: Int64($0)) }
        }
        return DatabaseHeader.isPageSize(stated) ? stated : nil
    }

    private func companions(of file: String) throws(DatabaseFileError) -> [DatabaseFile.Inspection.Companion]
    {
        var result: [DatabaseFile.Inspection.Companion] = []
        for role in DatabaseFile.Inspection.Companion.Role.allCases {
            guard let status = try SystemFile.status(file + role.suffix) else { continue }
            result.append(DatabaseFile.Inspection.Companion(role: role, size: status.size))
        }
        return result
    }
}

extension FileInspector {
    func keyID(_ key: DatabaseKey, cipher: CipherSettings?, timeout: TimeInterval) throws -> String? {
        try DatabaseFileError.translated(path) {
            try SteadyLook.look(into: path) {
                let opened = try OpenedView(path, key: key, cipher: cipher, timeout: timeout)
                guard let material = try opened.protection.material(fileSalt: opened.view.fileSalt) else {
                    return nil
                }
                return try FileKey(material, salt: material.salt ?? opened.view.fileSalt).id
            }
        }
    }

    func contents(key: DatabaseKey?, cipher: CipherSettings?, timeout: TimeInterval) throws
        -> DatabaseFile.Contents
    {
        try DatabaseFileError.translated(path) {
            try SteadyLook.look(into: path) {
                let opened = try OpenedView(path, key: key, cipher: cipher, timeout: timeout)
                guard let handle = opened.handle else {
                    throw DatabaseFileError(.damaged(pages: opened.damagedPages), path: path)
                }
                return try contents(opened, handle)
            }
        }
    }

    private func contents(_ opened: OpenedView, _ handle: ConnectionHandle) throws -> DatabaseFile.Contents {
        func number(_ name: String) throws -> Int { try Int(handle.integer(pragma: name)) }
        let tables = try handle.column(
            trusted: """
                SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
                    AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name
                """)
        let header = opened.view.size == 0 ? nil : try PageFile(opened.view, opened.protection).header()
        let autoVacuum = try number("auto_vacuum")
        return try DatabaseFile.Contents(
            cipher: opened.settings,
            format: opened.protection.ring == nil ? nil : opened.settings.format,
            pageSize: number("page_size"), pageCount: number("page_count"),
            freePageCount: number("freelist_count"), tables: tables,
            userVersion: Int32(truncatingIfNeeded: number("user_version")),
            applicationID: Int32(truncatingIfNeeded: number("application_id")),
            // The engine reads a view without a journal, so the mode comes from the file's header.
            journalMode: (header?.journalMode ?? .delete).rawValue,
            autoVacuum: autoVacuum == 0 ? "none" : autoVacuum == 1 ? "full" : "incremental",
            encoding: handle.firstText(trusted: "PRAGMA encoding") ?? "")
    }
}
