internal import Glibc
internal import SystemCalls

extension Failure {
    /// Creates the failure for a failed system call.
    ///
    /// - Parameters:
    ///   - missing: the status if the file does not exist.
    ///   - denied: the status if access is denied.
    init(
        _ error: Errno, _ action: String, missing: ExitStatus = .inputMissing,
        denied: ExitStatus = .inputOutput
    ) {
        let message = "\(action): \(error.words)."
        switch error.code {
        case ENOENT, ENOTDIR: self.init(missing, "missing", message)
        case EACCES, EPERM: self.init(denied, "permission", message)
        case EEXIST: self.init(.outputExists, "output_exists", message)
        case EROFS: self.init(.outputExists, "read_only", message)
        case ENOSPC, EDQUOT, EFBIG: self.init(.inputOutput, "disk_full", message)
        default: self.init(.inputOutput, "io", message)
        }
    }
}

extension Failure {
    /// Runs `body`, and throws the failure of its system calls.
    ///
    /// - Parameter action: the sentence to which the reason is added, such as "The state cannot be written".
    static func explaining<Result: ~Copyable>(_ action: String, _ body: () throws(Errno) -> Result)
        throws(Failure) -> Result
    {
        do throws(Errno) { return try body() } catch { throw Failure(error, action) }
    }
}

extension Descriptor {
    /// Opens an input file.
    ///
    /// - Parameter name: the subject of error messages, capitalized.
    static func reading(_ path: String, name: String, flags: CInt = 0) throws(Failure) -> Descriptor {
        do throws(Errno) {
            return try Descriptor(opening: path, O_RDONLY | flags)
        } catch {
            throw Failure(error, "\(name) cannot be opened").about(path)
        }
    }
}
