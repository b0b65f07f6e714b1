internal import Glibc
internal import KeyMaterial

/// A file that holds a key, and that no other user may read.
enum KeyFile {
    static func read(_ path: String, allowsInsecureMode: Bool) throws(Failure) -> SecretBytes {
        try read(path, name: "The key file '\(path)'", allowsInsecureMode ? .unchecked : .ownerOnly)
    }

    /// - Parameter name: what is read, for messages.
    static func read(
        _ path: String, name: String, _ access: SecretFile.Access, followsLinks: Bool = true
    ) throws(Failure) -> SecretBytes {
        do throws(SecretFile.Problem) {
            return try SecretFile.read(path, access: access, followsLinks: followsLinks)
        } catch {
            switch error {
            case .notOpened(let code): throw Failure(SystemError(code: code), "\(name) cannot be opened")
            case .notRead(let code): throw Failure(SystemError(code: code), "\(name) cannot be read")
            case .notAFile: throw Failure(.inputMissing, "not_a_file", "\(name) is not a file.")
            case .readableByOthers(let mode):
                throw Failure(
                    .unsafeConfiguration, "insecure_key_file",
                    "\(name) can be read by others (mode \(String(mode, radix: 8))). Run 'chmod 600' on it, "
                        + "and rotate if others may have read it; or give --insecure-key-file-mode.")
            case .ofAnotherUser:
                throw Failure(
                    .unsafeConfiguration, "insecure_key_file",
                    "\(name) belongs to another user, who knows the key and can change it. Give "
                        + "--insecure-key-file-mode if that is intended."
                )
            case .tooLong:
                throw Failure(
                    .keyRejected, "invalid_key",
                    "\(name) has more than \(TextLayout.grouped(SecretFile.limit)) bytes, which no key has.")
            }
        }
    }
}
