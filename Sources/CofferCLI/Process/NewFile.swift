internal import Glibc
internal import KeyMaterial

/// A file that this process has made, and no other.
struct NewFile: ~Copyable {
    let path: String
    /// The name until it is published.
    private let name: String
    private let descriptor: Descriptor

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// - Parameter comesWhole: whether the file has another name until it is published, so that a part of it
    ///   is never taken for it.
    init(_ path: String, comesWhole: Bool = false) throws(Failure) {
        self.path = path
        let number = String(UInt64.random(in: 0 ... .max), radix: 16)
        name = comesWhole ? "\(FileNames.folder(of: path))/\(NewFile.partPrefix)\(number).tmp" : path
        do throws(Failure) {
            descriptor = try NewFile.make(name)
        } catch {
            throw Failure(error.status, error.reason, error.message.replacing("'\(name)'", with: "'\(path)'"))
        }
    }

    /// What the names of files begin with that are not whole.
    static let partPrefix = ".coffer-part-"

    private static func make(_ path: String) throws(Failure) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        } catch {
            throw Failure(error, "'\(path)' cannot be made", missing: .outputExists, denied: .outputExists)
        }
    }

    func write(_ secret: borrowing SecretBytes) throws(Failure) {
        do throws(SystemError) {
            try secret.withUnsafeBytes { bytes throws(SystemError) in try unsafe descriptor.write(bytes) }
        } catch {
            throw Failure(error, "'\(path)' cannot be written")
        }
    }

    func write(bytes: [UInt8]) throws(Failure) {
        do throws(SystemError) {
            try Descriptor.write(bytes, to: descriptor.number)
        } catch {
            throw Failure(error, "'\(path)' cannot be written")
        }
    }

    /// Brings the file, and its name, to the disk.
    func publish() throws(Failure) {
        do throws(SystemError) {
            try descriptor.synchronize()
            if name != path { try takeName() }
            try Descriptor(opening: FileNames.folder(of: path), O_RDONLY | O_DIRECTORY).synchronize()
        } catch {
            guard error.code != EEXIST else {
                throw Failure(.outputExists, "output_exists", "'\(path)' exists, and is not overwritten.")
            }
            throw Failure(error, "'\(path)' cannot be brought to the disk")
        }
    }

    /// Gives the file its name, which nothing has.
    private func takeName() throws(SystemError) {
        if unsafe link(name, path) == 0 {
            unsafe unlink(name)
            return
        }
        let error = SystemError.last
        // Some file systems know no second names.
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(error.code), !NewFile.exists(path) else {
            throw error
        }
        guard unsafe rename(name, path) == 0 else { throw SystemError.last }
    }

    func remove() { unsafe unlink(name) }
}
