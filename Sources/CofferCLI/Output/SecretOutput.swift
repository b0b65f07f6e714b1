internal import Glibc
internal import SystemCalls

/// Secrets on the standard output, which are stored nowhere else.
enum SecretOutput {
    /// Writes a secret, and syncs it to the disk if the output is a file, so no secret is lost that a command
    /// then depends on.
    static func write(_ secret: UnsafeRawBufferPointer, _ end: String = "") throws(Errno) {
        try unsafe Descriptor.write(secret, to: STDOUT_FILENO)
        try Descriptor.write(end, to: STDOUT_FILENO)
        guard try FileStatus(of: STDOUT_FILENO).isRegular else { return }
        try systemCall("fsync") { fsync(STDOUT_FILENO) }
    }

    /// The mode of the standard output if it is a file that other users can read, as a shell creates it.
    static var modeForOthers: String? {
        guard let status = try? FileStatus(of: STDOUT_FILENO), status.isRegular, status.mode & 0o077 != 0
        else { return nil }
        return String(status.mode & 0o777, radix: 8)
    }
}
