internal import Glibc

/// The descriptors 0, 1 and 2, with which a process may be started closed.
enum StandardDescriptors {
    /// Takes the numbers that are free, before a file gets one: the output would be written into it.
    ///
    /// What takes them cannot be used in their direction, so that a lost output is an error still.
    static func takeClosedOnes() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
            // The lowest free number is this one.
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
