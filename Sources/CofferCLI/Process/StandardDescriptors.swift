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

    /// Keeps the other descriptors that the process was started with, such as those of keys, from the
    /// programs that it starts.
    static func keepInheritedOnes() {
        guard let folder = unsafe opendir("/proc/self/fd") else {
            for number in STDERR_FILENO + 1..<1024 { keep(number) }
            return
        }
        defer { unsafe closedir(folder) }
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
            }
            if let number = CInt(name), number > STDERR_FILENO { keep(number) }
        }
    }

    private static func keep(_ number: CInt) {
        let flags = fcntl(number, F_GETFD)
        if flags >= 0 { _ = fcntl(number, F_SETFD, flags | FD_CLOEXEC) }
    }
}
