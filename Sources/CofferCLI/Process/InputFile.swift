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

    init(_ descriptor: consuming Descriptor, name: String) {
        self.name = name
        let status = try? descriptor.status()
        size = status?.isRegular == true ? status?.size ?? 0 : 0
        self.descriptor = descriptor
    }

    /// - Parameters:
    ///   - path: nil or `-` for the standard input.
    ///   - noun: the kind of file, such as "script".
    convenience init(_ path: String?, _ noun: String) throws(Failure) {
        let path = path == "-" ? nil : path
        let name = path.map { "The \(noun) '\($0)'" } ?? "The standard input"
        let descriptor =
            try path.map { path throws(Failure) in try Descriptor.reading(path, name: name) }
            ?? Descriptor(owning: dup(STDIN_FILENO))
        guard let status = try? descriptor.status(), !status.isDirectory else {
            throw Failure(.inputMissing, "not_a_file", "\(name) is not a file.")
        }
        self.init(descriptor, name: name)
    }

    /// The descriptor, to wait for input.
    var number: CInt { descriptor.number }

    /// Returns the next bytes, or none at the end.
    func read() throws(Failure) -> [UInt8] {
        return try Failure.explaining("\(name) cannot be read") { () throws(Errno) in
            let part = try Descriptor.read(from: descriptor.number, upTo: 262_144)
            byteCount += Int64(part.count)
            return part
        }
    }
}
