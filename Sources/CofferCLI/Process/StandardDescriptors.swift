internal import Glibc
internal import SystemCalls

/// The descriptors 0, 1 and 2, any of which may be closed when the process starts.
enum StandardDescriptors {
    /// Occupies the free numbers before a file gets one, because output would be written into that file.
    ///
    /// The placeholders are opened in the wrong direction, so that lost output is still an error.
    static func takeClosedOnes() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
            // The lowest free number is this one.
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Keeps child processes from inheriting the other descriptors that this process was started with, for
    /// example those for keys.
    static func keepInheritedOnes() {
        let names = try? Folder.names(in: "/proc/self/fd").map { String(decoding: $0, as: UTF8.self) }
        for number in names?.compactMap({ CInt($0) }) ?? Array(0..<1024) where number > STDERR_FILENO {
            keep(number)
        }
    }

    private static func keep(_ number: CInt) {
        let flags = fcntl(number, F_GETFD)
        if flags >= 0 { _ = fcntl(number, F_SETFD, flags | FD_CLOEXEC) }
    }
}
