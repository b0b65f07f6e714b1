internal import Glibc
internal import SystemCalls

/// A new file for the rows of one statement, which only its owner can read.
final class RowFile {
    private let descriptor: Descriptor
    /// Writes rows to the file, and messages to the standard error.
    let reporter: Reporter

    init(_ path: String, command: String) throws(Failure) {
        try NewFile.checkIsNew(path)
        do throws(Errno) {
            descriptor = try Descriptor(
                opening: path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        } catch {
            throw Failure(error, "'\(path)' cannot be created", missing: .outputExists, denied: .outputExists)
        }
        reporter = Reporter(
            command: command, style: OutputStyle(isJSON: false), output: OutputFile(descriptor.number))
    }
}
