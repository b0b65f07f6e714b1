internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import SystemCalls

enum FileNames {
    /// Throws if the path does not exist or this user cannot read the file. Called before a key is prompted
    /// for.
    static func checkReadable(_ path: String) throws(Failure) {
        try checkIsNoMemory(path)
        for (mode, verb) in [(F_OK, "found"), (R_OK, "read")] where unsafe access(path, mode) != 0 {
            throw Failure(Errno.last, "'\(path)' cannot be \(verb)", denied: .inputMissing).about(path)
        }
    }

    /// Throws for SQLite's name of a database in memory: changes to it would be lost.
    static func checkIsNoMemory(_ path: String) throws(Failure) {
        guard path == ":memory:" else { return }
        throw Failure.usage(
            "':memory:' is SQLite's name for a database without a file. Give './:memory:' for a file of that "
                + "name.")
    }

    /// Throws for an empty file. The engine treats it as an empty database under any key, but it may be a
    /// database that was truncated to nothing. A file with a journal or log next to it passes: these may
    /// restore its content.
    static func checkHasBytes(_ path: String) throws(Failure) {
        // SQLite treats a file of a single byte as empty.
        guard let count = size(path), count <= 1, (size(path + "-journal") ?? 0) == 0,
            (size(path + "-wal") ?? 0) == 0
        else { return }
        throw emptyFile.about(path)
    }

    /// Throws if the file cannot be read or is empty.
    static func checkHasContent(_ path: String) throws(Failure) {
        try checkReadable(path)
        try checkHasBytes(path)
    }

    static let notUTF8 = Failure(
        .inputMissing, "name_not_utf8",
        "The name is not UTF-8, so the file cannot be opened. Rename it, or make a link with a UTF-8 name.")

    static let emptyFile = Failure(
        .badData, "empty_file",
        "The file is empty (0 bytes), so no key can open it. Restore it from a backup.")

    /// Throws if one name is given for the old files of several. This is no check of the arguments' syntax:
    /// the parser counts the value of an unknown option as a file until it reports the option.
    static func checkIsOne(_ files: [String], for keepOld: String?) throws(Failure) {
        if keepOld != nil, files.count > 1 { throw Failure.usage("--keep-old is for one file.") }
    }

    /// Returns the size of a regular file, in bytes, or nil for anything else.
    static func size(_ path: String) -> Int64? {
        guard let status = try? FileStatus(path, followsLinks: true), status.isRegular else { return nil }
        return status.size
    }

    /// Throws for "-", which stands for standard input or output elsewhere and would become a file name here.
    ///
    /// - Parameter what: the kind of file that would get the name.
    static func checkIsNoDash(_ path: String, _ what: String) throws {
        guard path != "-" else {
            throw ValidationError(
                "'-' is not a name for \(what), which cannot be the standard output. Give './-' for a file "
                    + "of that name."
            )
        }
    }

    /// Throws unless the value of an option confirms the name of a file.
    ///
    /// - Parameters:
    ///   - option: the option with the name, such as "--yes-erase".
    ///   - purpose: the work to confirm, as in "To erase it".
    /// - Returns: the name.
    static func confirmed(_ given: String?, _ option: String, of path: String, _ purpose: String)
        throws(Failure) -> String
    {
        let name = name(of: path)
        guard let given else { throw Failure.usage("\(purpose), add: \(option) \(name)") }
        guard given == name else {
            throw Failure(
                .badData, "confirmation_mismatch",
                "\(option) names '\(given)', but the file is '\(name)'. Nothing was changed.")
        }
        return name
    }

    /// Returns a path with its relative form starting at a folder.
    static func located(_ path: String, in folder: String) -> String {
        path.begins(withBytesOf: "/") || folder == "." ? path : folder + "/" + path
    }

    /// Returns the directory part of a path.
    static func folder(of path: String) -> String { path.folder }

    /// The folder for short-lived files. The tool looks for it in the same way as SQLite.
    static var temporaryFolder: String {
        let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
        return folder.isEmpty ? "/var/tmp" : folder
    }

    /// Returns the last component of a path.
    static func name(of path: String) -> String { path.lastComponent }

    /// Returns the absolute path of a file without links, which does not depend on how the path was typed.
    /// The missing end of a path is appended unchanged.
    static func canonical(_ path: String) -> String {
        if let real = unsafe realpath(path, nil) {
            defer { unsafe free(real) }
            return unsafe String(cString: real)
        }
        let name = name(of: path)
        guard !["", ".", ".."].contains(name) else { return standardized(path) }
        let folder = canonical(folder(of: path))
        return folder == "/" ? "/" + name : "\(folder)/\(name)"
    }

    /// Returns the absolute path of a file by its text alone: without "." and "..", and with links.
    static func standardized(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
