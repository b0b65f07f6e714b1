internal import Glibc

internal import KeyMaterial

/// The number of a failed system call.
struct SystemError: Error {
    let code: CInt

    static var last: SystemError { SystemError(code: errno) }

    var words: String { SystemError.words(code) }

    /// The system's own words for an error number.
    static func words(_ code: CInt) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}

/// A file descriptor that is closed at the end of its life. Never inherited by programs that are started.
struct Descriptor: ~Copyable {
    let number: CInt

    /// Takes over a descriptor.
    init(owning number: CInt) {
        self.number = number
    }

    init(opening path: String, _ flags: CInt, mode: mode_t = 0) throws(SystemError) {
        let number = Retry.onInterrupt { unsafe open(path, flags | O_CLOEXEC | O_NOCTTY, mode) }
        guard number >= 0 else { throw SystemError.last }
        self.number = number
    }

    deinit { close(number) }

    /// Reads up to the size of `target`; 0 at the end.
    func read(into target: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        let number = number
        let count = Retry.onInterrupt { unsafe Glibc.read(number, target.baseAddress, target.count) }
        guard count >= 0 else { throw SystemError.last }
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        try unsafe Descriptor.write(bytes, to: number)
    }

    func write(_ text: String) throws(SystemError) { try Descriptor.write(text, to: number) }

    func synchronize() throws(SystemError) {
        guard fsync(number) == 0 else { throw SystemError.last }
    }

    func status() throws(SystemError) -> stat {
        var result = stat()
        guard unsafe fstat(number, &result) == 0 else { throw SystemError.last }
        return result
    }

    static func write(_ text: String, to number: CInt) throws(SystemError) {
        var text = text
        // `withUTF8` knows no typed errors.
        let result = text.withUTF8 { bytes -> Result<Void, SystemError> in
            do throws(SystemError) {
                return .success(try unsafe write(UnsafeRawBufferPointer(bytes), to: number))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    static func write(_ bytes: [UInt8], to number: CInt) throws(SystemError) {
        // `withUnsafeBytes` of arrays knows no typed errors.
        let result = unsafe bytes.withUnsafeBytes { bytes -> Result<Void, SystemError> in
            do throws(SystemError) {
                return .success(try unsafe write(bytes, to: number))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Reads up to a number of bytes; fewer at the end.
    func read(count: Int) throws(SystemError) -> [UInt8] {
        var result: [UInt8] = []
        var buffer = SecretBytes(count: 4096)
        while result.count < count {
            let limit = min(count - result.count, buffer.count)
            let part = try buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
                try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<limit]))
            }
            if part == 0 { break }
            buffer.withUnsafeBytes { unsafe result.append(contentsOf: $0[..<part]) }
        }
        return result
    }

    /// Reads what is there, up to a number of bytes; nothing at the end.
    static func read(from number: CInt, upTo count: Int) throws(SystemError) -> [UInt8] {
        var part = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            part = Retry.onInterrupt { unsafe Glibc.read(number, buffer.baseAddress, count) }
            initialized = max(0, part)
        }
        guard part >= 0 else { throw SystemError.last }
        return bytes
    }

    /// Writes all bytes, however many calls it takes.
    static func write(_ bytes: UnsafeRawBufferPointer, to number: CInt) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Retry.onInterrupt { unsafe Glibc.write(number, rest.baseAddress, rest.count) }
            guard count >= 0 else { throw SystemError.last }
            written += count
        }
    }
}

enum Retry {
    /// Calls again what a signal interrupted.
    static func onInterrupt<Number: SignedInteger>(_ call: () -> Number) -> Number {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }
}
