internal import Glibc
internal import KeyMaterial

/// A file that holds a key, and that nobody else may read.
enum KeyFile {
    static func read(_ path: String, allowsInsecureMode: Bool) throws(Failure) -> SecretBytes {
        let name = "The key file '\(path)'"
        // The descriptor that is judged is the one that is read: the path may lead elsewhere the next time.
        let descriptor = try Descriptor.reading(path, name: name)
        let status: stat
        do throws(SystemError) {
            status = try descriptor.status()
        } catch {
            throw Failure(error, "\(name) cannot be opened")
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            if !allowsInsecureMode { try check(status, name: name) }
        // A pipe, as in --key-file <(command), is its creator's.
        case S_IFIFO, S_IFSOCK: break
        default: throw Failure(.inputMissing, "not_a_file", "\(name) is not a file.")
        }
        return try SecretInput.readAll(descriptor, name: name)
    }

    private static func check(_ status: stat, name: String) throws(Failure) {
        let mode = status.st_mode & 0o777
        guard mode & 0o077 == 0 else {
            throw Failure(
                .unsafeConfiguration, "insecure_key_file",
                "\(name) can be read by others (mode \(String(mode, radix: 8))). Run 'chmod 600' on it, and rotate if others may have read it; "
                    + "or give --insecure-key-file-mode.")
        }
        let user = geteuid()
        guard status.st_uid == user || status.st_uid == 0 || user == 0 else {
            throw Failure(
                .unsafeConfiguration, "insecure_key_file",
                "\(name) belongs to another user, who knows the key and can change it. Give --insecure-key-file-mode if that is intended.")
        }
    }
}
