internal import Glibc

/// The texts that the kernel makes at the moment they are read, such as those of `/proc`.
package enum KernelText {
    /// Reads such a text to its end; nil if it cannot be opened or read.
    ///
    /// These files have no size, and a call returns a part of them, usually a page. Only a call that returns
    /// no bytes is the end: `String(contentsOfFile:)` stops at the first short one. Parts are read at
    /// different times, so that a list that changes may lack an entry, or have it twice.
    package static func read(_ path: String) -> String? {
        bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads such a text to its end, as bytes: names of files need not be text.
    static func bytes(of path: String) -> [UInt8]? {
        var descriptor: CInt
        repeat { descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC) } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe part.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += part[..<count]
        }
    }

    /// The name of the program that a process runs, from the first 15 bytes of its name; nil if there is no
    /// such process.
    package static func command(ofProcess process: Int32) -> String? {
        guard let text = read("/proc/\(process)/comm") else { return nil }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
