internal import SQLCipherBridge

extension FileInspector {
    func contents(key: DatabaseKey?, cipher: CipherSettings?) throws -> DatabaseFile.Contents {
        do {
            return try SteadyLook.look(into: path) {
                let opened = try OpenedView(path, key: key, cipher: cipher, timeout: 0)
                guard let handle = opened.handle else { throw DatabaseFileError(.damaged(pages: [1]), path: path) }
                return try contents(opened, handle)
            }
        } catch {
            throw DatabaseFileError.publicError(error, path: path)
        }
    }

    private func contents(_ opened: OpenedView, _ handle: ConnectionHandle) throws -> DatabaseFile.Contents {
        func number(_ name: String) throws(EngineError) -> Int { Int(try handle.firstText(trusted: "PRAGMA main.\(name)") ?? "") ?? 0 }
        let tables = try handle.column(
            trusted: """
                SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
                    AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name
                """)
        let isEmpty = opened.view.size == 0
        let page = isEmpty ? [] : try PageFile(opened.view, opened.protection).content(1)
        let autoVacuum = try number("auto_vacuum")
        return try DatabaseFile.Contents(
            cipher: opened.settings,
            format: opened.protection.ring == nil ? nil : (1...4).first { CipherSettings.sqlcipher(format: $0) == opened.settings },
            pageSize: number("page_size"), pageCount: number("page_count"), freePageCount: number("freelist_count"), tables: tables,
            userVersion: Int32(truncatingIfNeeded: number("user_version")),
            applicationID: Int32(truncatingIfNeeded: number("application_id")),
            // The view of the engine has no journal: the file says which one a reader would have.
            journalMode: page.count > 19 && page[19] == 2 ? "wal" : "delete",
            autoVacuum: autoVacuum == 0 ? "none" : autoVacuum == 1 ? "full" : "incremental",
            encoding: handle.firstText(trusted: "PRAGMA encoding") ?? "")
    }
}
