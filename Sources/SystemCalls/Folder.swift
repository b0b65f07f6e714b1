internal import Glibc

package enum Folder {
    /// Returns the names in a folder, without `.` and `..`, as bytes: names need not be valid UTF-8.
    package static func names(in path: String) throws(Errno) -> [[UInt8]] {
        var stream: OpaquePointer?
        try systemCall("opendir") {
            unsafe stream = opendir(path)
            return unsafe stream == nil ? -1 : 0
        }
        guard let stream = unsafe stream else { return [] }
        defer { unsafe closedir(stream) }
        var names: [[UInt8]] = []
        while true {
            // `readdir` returns nil at the end and after an error, which only `errno` distinguishes.
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            // The system ends each name with a zero byte.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                let start = unsafe UnsafeRawPointer($0)
                return unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
            }
            if !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) { names.append(name) }
        }
        guard errno == 0 else { throw Errno.last }
        return names
    }
}
