internal import Glibc
internal import SystemCalls

extension DatabasePools {
    /// Opens the databases of a folder by their names. Its methods block, except for the check of a name.
    struct Opener: Sendable {
        let folder: String
        let fileExtension: String
        let readerCount: Int
        let configuration: @Sendable (_ name: String) throws -> Configuration
        let prepare: @Sendable (DatabasePool) throws -> Void

        /// Throws an error for a name that leads out of the folder, or cannot be the name of a file.
        ///
        /// The names of the files that operations make next to a database begin with a dot.
        func check(_ name: String) throws(DatabaseError) {
            let isUsable =
                !name.isEmpty && !name.hasPrefix(".")
                && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
                && name.utf8.count + fileExtension.utf8.count < 200
            guard isUsable else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "The name of a database must be a file name that does not begin with a dot.")
            }
        }

        func path(of name: String) -> String { "\(folder)/\(name).\(fileExtension)" }

        func open(_ name: String) throws -> DatabasePool {
            // SQLite would create the file.
            try checkExists(name)
            let pool = try DatabasePool(
                path: path(of: name), configuration: completeConfiguration(of: name))
            try prepare(pool)
            return pool
        }

        /// Throws `missing` if there is no file with this name.
        func checkExists(_ name: String) throws(DatabaseFileError) {
            let path = path(of: name)
            do throws(Errno) {
                _ = try FileStatus(path, followsLinks: true)
            } catch {
                throw DatabaseFileError(
                    error.code == ENOENT ? .missing : .inputOutput(call: "stat", errno: error.code),
                    path: path)
            }
        }

        private func completeConfiguration(of name: String) throws -> Configuration {
            var configuration = try configuration(name)
            configuration.maximumReaderCount = readerCount
            return configuration
        }

        /// Throws `exists` if there is a file with this name.
        func checkIsFree(_ name: String) throws(DatabaseFileError) {
            let path = path(of: name)
            guard (try? FileStatus(path)) == nil else { throw DatabaseFileError(.exists, path: path) }
        }

        /// Creates, prepares and closes a database. If this fails, the file is removed unless something was
        /// committed to it.
        func create(_ name: String) throws {
            let path = path(of: name)
            let configuration = try completeConfiguration(of: name)
            guard !configuration.readonly else {
                throw DatabaseFileError(
                    .unsupported("A read-only configuration cannot create a file."), path: path)
            }
            // SQLite would replay it into the new file.
            try NewDatabaseFile.checkIsAlone(path)
            guard let file = try CreatedFile(path, configuration: configuration) else {
                throw DatabaseFileError(.exists, path: path)
            }
            do {
                let pool = try DatabasePool(path: path, configuration: configuration)
                do {
                    try prepare(pool)
                    try pool.close()
                } catch {
                    try? pool.close()
                    throw error
                }
            } catch {
                // The first error matters more than one of the removal.
                try? file.removeUnlessUsed()
                throw error
            }
        }

        /// The key that the configuration of a database has now.
        func key(of name: String) throws -> DatabaseKey {
            guard let key = try configuration(name).key else {
                throw DatabaseError(encryptionFailure: .noKey)
            }
            return key
        }

        func names() throws -> [String] {
            let suffix = ".\(fileExtension)"
            return try SystemFile.names(in: folder).compactMap { $0.without(ending: suffix) }
                .filter { (try? check($0)) != nil }.sorted()
        }
    }
}
