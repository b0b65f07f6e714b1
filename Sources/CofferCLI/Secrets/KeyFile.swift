internal import KeyMaterial

/// A file that contains a key and that no other user may read.
enum KeyFile {
    static func read(_ path: String, _ access: SecretFile.Access) throws(Failure) -> SecretBytes {
        try read(path, name: "The key file '\(path)'", access)
    }

    /// - Parameter name: the subject of error messages.
    static func read(
        _ path: String, name: String, _ access: SecretFile.Access, followsLinks: Bool = true
    ) throws(Failure) -> SecretBytes {
        do throws(SecretFile.Problem) {
            return try SecretFile.read(path, access: access, followsLinks: followsLinks)
        } catch {
            if case .ofAnotherUser = error, case .ownerOnlyOfNew = access {
                throw Failure(
                    .unsafeConfiguration, "insecure_key_file",
                    "\(name) belongs to another user, who would know the new key. Give a file that belongs "
                        + "to you, to root or to the owner of the database.")
            }
            throw failure(error, name)
        }
    }

    /// - Parameter name: the subject of error messages.
    static func failure(_ problem: SecretFile.Problem, _ name: String) -> Failure {
        switch problem {
        case .notOpened(let error): return Failure(error, "\(name) cannot be opened")
        case .notRead(let error): return Failure(error, "\(name) cannot be read")
        case .notAFile: return Failure(.inputMissing, "not_a_file", "\(name) is not a file.")
        case .readableByOthers(let mode):
            return Failure(
                .unsafeConfiguration, "insecure_key_file",
                "\(name) can be read by others (mode \(String(mode, radix: 8))). Run 'chmod 600' on it, "
                    + "and rotate the key if others may have read it; or give --insecure-key-file-mode.")
        case .ofAnotherUser:
            return Failure(
                .unsafeConfiguration, "insecure_key_file",
                "\(name) belongs to another user, who can read and change the key. Give "
                    + "--insecure-key-file-mode if that is intended.")
        case .tooLong:
            return Failure(
                .keyRejected, "invalid_key",
                "\(name) has more than \(grouped: SecretFile.limit) bytes, the key limit.")
        }
    }
}
