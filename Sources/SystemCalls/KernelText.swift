internal import Glibc

/// Texts that the kernel generates when they are read, such as the files in `/proc`.
package enum KernelText {
    /// Reads a text to its end. Returns nil if it cannot be opened or read.
    ///
    /// These files have no size, and each call returns a part of them, usually a page. The text ends only
    /// when a call returns no bytes, but `String(contentsOfFile:)` stops at the first short read. Parts are
    /// read at different times, so a changing list may lack an entry, or contain it twice.
    package static func read(_ path: String) -> String? {
        bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads a text to its end, as bytes: file names need not be valid UTF-8.
    package static func bytes(of path: String) -> [UInt8]? {
        try? Descriptor(opening: path, O_RDONLY).readAll()
    }

    /// Returns the first 15 bytes of the name of the program that a process runs; nil if there is no such
    /// process.
    package static func command(ofProcess process: Int32) -> String? {
        guard let text = read("/proc/\(process)/comm") else { return nil }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
