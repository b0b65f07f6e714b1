internal import Glibc
internal import SystemCalls

/// A file that is read from its start to its end, or the standard input.
final class InputFile {
    private let descriptor: Descriptor
    /// The subject of error messages, capitalized.
    let name: String
    /// The size in bytes, or 0 for a pipe.
    let size: Int64
    /// The number of bytes that were read.
    private(set) var byteCount: Int64 = 0

    private let check: () throws(Failure) -> Void

    /// - Parameter check: called repeatedly while the input gives no bytes, which a pipe may do indefinitely.
    ///   Throws to end the work.
    init(_ descriptor: consuming Descriptor, name: String, check: @escaping () throws(Failure) -> Void) {
        self.name = name
        self.check = check
        let status = try? descriptor.status()
        size = status?.isRegular == true ? status?.size ?? 0 : 0
        self.descriptor = descriptor
    }

    /// - Parameters:
    ///   - path: nil or `-` for the standard input.
    ///   - noun: the kind of file, such as "script".
    ///   - flags: additional flags for opening the file.
    ///   - check: see ``init(_:name:check:)``.
    convenience init(
        _ path: String?, _ noun: String, flags: CInt = 0, check: @escaping () throws(Failure) -> Void
    ) throws(Failure) {
        let path = path == "-" ? nil : path
        let name = path.map { "The \(noun) '\($0)'" } ?? "The standard input"
        let descriptor =
            try path.map { path throws(Failure) in try Descriptor.reading(path, name: name, flags: flags) }
            ?? Descriptor(owning: dup(STDIN_FILENO))
        guard let status = try? descriptor.status(), !status.isDirectory else {
            throw Failure(.inputMissing, "not_a_file", "\(name) is not a file.")
        }
        self.init(descriptor, name: name, check: check)
    }

    /// Returns the next bytes, or none at the end.
    func read() throws(Failure) -> [UInt8] {
        try waitForBytes()
        return try Failure.explaining("\(name) cannot be read") { () throws(Errno) in
            let part = try Descriptor.read(from: descriptor.number, upTo: 262_144)
            byteCount += Int64(part.count)
            return part
        }
    }

    private func waitForBytes() throws(Failure) {
        while true {
            try check()
            var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            let count = unsafe poll(&request, 1, 50)
            if count > 0 || count < 0 && errno != EINTR { return }
        }
    }
}
