#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A database file in the making: it is written under another name in the same directory, and gets its own name once it is complete.
///
/// Nobody ever finds a part of it under its name, and nothing that is there is overwritten. A crash leaves the temporary file only,
/// which holds nothing that its final form would not.
struct NewDatabaseFile {
    let path: String

    /// Where the file is until it is published. It exists, is empty, and is readable by its owner only.
    let temporaryPath: String

    /// - Throws: `exists` if there is something at the path already.
    init(path: String) throws(DatabaseFileError) {
        guard !path.isEmpty, !path.utf8.contains(0), path != ":memory:" else {
            throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path)
        }
        self.path = path
        guard try SystemFile.status(path) == nil else { throw DatabaseFileError(.exists, path: path) }
        let directory = SystemFile.directory(of: path)
        if let errno = SystemFile.isWritable(directory: directory) {
            throw DatabaseFileError(.unsafeFile(.directory(errno: errno)), path: path)
        }
        // A name of its own length: that of the file may already be as long as names can be.
        temporaryPath = "\(directory)/.coffer-\(String(UInt64.random(in: 0...(.max)), radix: 16)).tmp"
        _ = try Descriptor.create(temporaryPath, mode: 0o600)
    }

    /// Brings the file to the disk and gives it its name.
    ///
    /// - Precondition: all connections to it are closed.
    /// - Throws: `exists` if there is something at the path by now.
    func publish() throws(DatabaseFileError) {
        for name in ReplacementNames.companions(of: temporaryPath) { try SystemFile.remove(name) }
        try Descriptor.open(temporaryPath).synchronize()
        do throws(DatabaseFileError) {
            // A second name refuses to replace what is there; renaming would not.
            try SystemFile.link(temporaryPath, to: path)
            try SystemFile.remove(temporaryPath)
        } catch {
            guard case .inputOutput(_, let code) = error.reason, [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(code) else { throw error }
            try publishWithoutLinks()
        }
        try SystemFile.synchronize(directory: SystemFile.directory(of: path))
    }

    /// For file systems without second names: an empty file of ours takes the name first.
    private func publishWithoutLinks() throws(DatabaseFileError) {
        _ = try Descriptor.create(path, mode: 0o600)
        do throws(DatabaseFileError) {
            try SystemFile.rename(temporaryPath, to: path)
        } catch {
            try SystemFile.remove(path)
            throw error
        }
    }

    /// Removes what was written, where the file was not published.
    func discard() {
        for name in [temporaryPath] + ReplacementNames.companions(of: temporaryPath) { try? SystemFile.remove(name) }
    }
}
