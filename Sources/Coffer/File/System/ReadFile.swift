internal import SQLCipherBridge
internal import SystemCalls

/// A file that is only read, such as a log, which SQLite never locks, or a file that may not be a database.
final class ReadFile: StoredBytes, Sendable {
    let file: FileDescriptor

    init(_ file: consuming FileDescriptor) { self.file = file }

    var size: Int64 { (try? file.status().size) ?? 0 }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        try file.read(at: offset, into: &target)
    }
}
