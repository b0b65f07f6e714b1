public import Coffer

/// The form of a file's content: encrypted with a raw key of 32 equal bytes in one of the SQLCipher formats,
/// or plaintext.
public struct FileForm: Hashable, Sendable {
    /// The byte of the key, or nil for plaintext.
    public let byte: UInt8?
    /// From 1 to 4.
    public let format: Int

    public static let plaintext = FileForm(byte: nil, format: 4)

    private init(byte: UInt8?, format: Int) {
        self.byte = byte
        self.format = format
    }

    public static func encrypted(_ byte: UInt8, format: Int = 4) -> FileForm {
        FileForm(byte: byte, format: format)
    }

    /// - Parameter text: a form as in ``text``.
    public init?(_ text: String) {
        guard text != "plain" else {
            self = .plaintext
            return
        }
        let parts = text.split(separator: "@")
        guard let byte = parts.first.flatMap({ UInt8($0) }) else { return nil }
        self = .encrypted(byte, format: parts.count > 1 ? Int(parts[1]) ?? 4 : 4)
    }

    /// The byte of the key and the format, such as `66@3`, or `plain`.
    public var text: String { byte.map { format == 4 ? "\($0)" : "\($0)@\(format)" } ?? "plain" }

    public var key: DatabaseKey? { byte.map { .rawKey([UInt8](repeating: $0, count: 32)) } }

    public var cipher: CipherSettings { .sqlcipher(format: format) }

    public var configuration: Configuration {
        var configuration = Configuration()
        configuration.key = key
        configuration.cipher = cipher
        configuration.allowsPlaintext = key == nil
        return configuration
    }

    /// Returns true if a file has this form and is intact, including its structure. Changes nothing.
    public func isIntact(_ path: String) -> Bool {
        var options = DatabaseFile.VerificationOptions()
        options.cipher = cipher
        options.structure = .full
        return (try? DatabaseFile(path: path).verify(key: key, options: options).isIntact) == true
    }
}
