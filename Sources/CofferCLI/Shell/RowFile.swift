internal import SystemCalls

/// A new file for the rows of one statement, which only its owner can read.
final class RowFile {
    private let descriptor: Descriptor
    /// Writes rows to the file, and messages to the standard error.
    let reporter: Reporter

    init(_ path: String, command: String) throws(Failure) {
        descriptor = try NewFile.make(path, for: path)
        reporter = Reporter(
            command: command, style: OutputStyle(isJSON: false), output: OutputFile(descriptor.number))
    }
}
