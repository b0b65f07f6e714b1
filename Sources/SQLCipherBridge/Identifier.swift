internal import Glibc

/// Names of a schema as strings. SQLite also accepts names that are not valid UTF-8, which a string cannot
/// contain. In a string of this kind, a scalar from U+10FF80 to U+10FFFF is an escaped byte. Its last two
/// digits are the value of the byte. The bytes of these scalars are themselves escaped, so that each name has
/// one string.
///
/// SQL that this package writes itself may contain such strings: see ``ConnectionHandle/execute(trusted:)``.
extension String {
    /// Creates the string for a name that SQLite returned.
    package init(identifier bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.mayHaveEscapedBytes {
            self = text
            return
        }
        self = ""
        var rest = bytes[...]
        while let first = rest.first {
            let length = String.length(after: first)
            let scalar = String(validating: rest.prefix(length), as: UTF8.self)
            if let scalar, let value = scalar.unicodeScalars.first, value.escapedByte == nil {
                self += scalar
                rest = rest.dropFirst(length)
            } else {
                unicodeScalars.append(Unicode.Scalar(escaping: first))
                rest = rest.dropFirst()
            }
        }
    }

    init(identifier text: UnsafePointer<CChar>) {
        unsafe self.init(identifier: UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    /// The bytes for SQLite, without escapes.
    package var identifierBytes: [UInt8] {
        guard mayHaveEscapedBytes else { return Array(utf8) }
        return unicodeScalars.flatMap { $0.escapedByte.map { [$0] } ?? Array(String($0).utf8) }
    }

    /// True if SQLite's name is not valid UTF-8.
    package var hasEscapedBytes: Bool {
        mayHaveEscapedBytes && String(validating: identifierBytes, as: UTF8.self) == nil
    }

    /// The name for messages: each byte that is not valid is replaced by U+FFFD.
    package var readableIdentifier: String {
        mayHaveEscapedBytes ? String(decoding: identifierBytes, as: UTF8.self) : self
    }

    /// True for all strings with escaped bytes, and some others.
    var mayHaveEscapedBytes: Bool { utf8.contains(0xf4) }

    /// Calls `body` with the text for SQLite, ended by a NUL byte.
    func withEngineText<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        guard mayHaveEscapedBytes else { return unsafe withCString(body) }
        return unsafe (identifierBytes + [0]).withUnsafeBytes { bytes in
            let text = unsafe bytes.assumingMemoryBound(to: CChar.self)
            // It has at least the NUL byte.
            return unsafe body(text.baseAddress!)
        }
    }

    /// Returns the number of bytes of a scalar that begins with a byte.
    private static func length(after first: UInt8) -> Int {
        switch first {
        case 0xf0...: 4
        case 0xe0...: 3
        case 0xc0...: 2
        default: 1
        }
    }
}

extension Unicode.Scalar {
    fileprivate init(escaping byte: UInt8) {
        // Bytes below 0x80 are valid anywhere, so this is always a scalar.
        self = Unicode.Scalar(0x10ff00 + UInt32(byte)) ?? "\u{fffd}"
    }

    fileprivate var escapedByte: UInt8? { value >= 0x10ff80 ? UInt8(truncatingIfNeeded: value) : nil }
}
