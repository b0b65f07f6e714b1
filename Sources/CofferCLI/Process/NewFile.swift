internal import Glibc
internal import KeyMaterial

/// A file that this process has made, and nobody else.
struct NewFile: ~Copyable {
    let path: String
    private let descriptor: Descriptor

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = try NewFile.make(path)
    }

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
            try Descriptor(opening: FileNames.folder(of: path), O_RDONLY | O_DIRECTORY).synchronize()
        } catch {
            throw Failure(error, "'\(path)' cannot be brought to the disk")
        }
    }

    func remove() { unsafe unlink(path) }
}
