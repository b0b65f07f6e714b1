internal import Glibc
internal import SystemCalls

extension Reporter {
    /// Warns if the standard output, which got a secret, is a file that others can read. The tool refuses to
    /// read a secret from such a file.
    func warnOfReadableOutput() {
        guard let status = try? FileStatus(of: STDOUT_FILENO), status.isRegular,
            status.permissions & 0o077 != 0
        else { return }
        warning(
            "Others can read the file that the secret was written to (mode "
                + "\(String(status.permissions, radix: 8))). Run 'chmod 600' on it before you use it.")
    }
}
