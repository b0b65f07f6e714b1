internal import Glibc

extension Failure {
    /// A failed system call.
    ///
    /// - Parameters:
    ///   - missing: the status when the file does not exist.
    ///   - denied: the status when it must not be used.
    init(
        _ error: SystemError, _ action: String, missing: ExitStatus = .inputMissing,
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

extension Descriptor {
    /// Opens an input.
    ///
    /// - Parameter name: what it is, with a capital letter, for messages.
    static func reading(_ path: String, name: String, flags: CInt = 0) throws(Failure) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor(opening: path, O_RDONLY | flags)
        } catch {
            throw Failure(error, "\(name) cannot be opened")
        }
    }
}
