internal import Glibc
internal import SystemCalls

/// A metrics file in the format of node_exporter's textfile collector. Readers always see a complete file.
///
/// An update locks the folder, reads the existing content, and replaces the file in one step. The tool
/// replaces only files that it has written itself, and never a link.
struct MetricsFile: Sendable {
    let path: String

    /// The mode of the file. The collector runs as another user, and the content is not secret.
    private static let mode: UInt32 = 0o644

    /// The maximum size, in bytes: more than any fleet needs.
    private static let longest = 64 << 20

    // MARK: Reading

    /// Reads the file as a monitor does: also if it belongs to another user, and through links.
    func read() throws(Failure) -> RunMetrics {
        let file = try Descriptor.reading(path, name: "The metrics file '\(path)'", flags: O_NONBLOCK)
        guard let status = try? file.status(), status.isRegular,
            let metrics = try metrics(in: file)
        else {
            throw Failure(.badData, "metrics", "'\(path)' is not a metrics file that coffer has written.")
        }
        return metrics
    }

    /// Returns the metrics, or nil if this is not a metrics file.
    private func metrics(in file: borrowing Descriptor) throws(Failure) -> RunMetrics? {
        return try Failure.explaining("The metrics file '\(path)' cannot be read") { () throws(Errno) in
            let bytes = try file.readAll(upTo: MetricsFile.longest + 1)
            return bytes.count > MetricsFile.longest ? nil : RunMetrics(bytes)
        }
    }

    // MARK: Writing

    /// Updates the metrics.
    ///
    /// - Parameter patience: the time to wait for other processes that are updating the file, in seconds.
    func update(patience: Double, _ change: (inout RunMetrics) -> Void) throws(Failure) {
        let folder = try lockedFolder(patience: patience)
        var metrics = try current()
        change(&metrics)
        do throws(Errno) {
            try replace(by: metrics.text)
            try folder.synchronize()
        } catch {
            throw Failure(
                error, "The metrics file '\(path)' cannot be written", missing: .outputExists,
                denied: .outputExists)
        }
    }

    /// Locks and returns the folder. A lock on the file itself would not work, because each update replaces
    /// it.
    private func lockedFolder(patience: Double) throws(Failure) -> Descriptor {
        let name = FileNames.folder(of: path)
        do throws(Errno) {
            let folder = try Descriptor(opening: name, O_RDONLY | O_DIRECTORY)
            let end = ContinuousClock.now + .seconds(patience)
            while true {
                do throws(Errno) {
                    try folder.lock(LOCK_EX | LOCK_NB)
                    return folder
                } catch {
                    guard error.code == EWOULDBLOCK, ContinuousClock.now < end else { throw error }
                    usleep(20_000)
                }
            }
        } catch {
            guard error.code == EWOULDBLOCK else {
                throw Failure(
                    error, "The folder of the metrics file '\(path)' cannot be locked",
                    missing: .outputExists, denied: .outputExists)
            }
            throw Failure(
                .busy, "busy",
                "The metrics file '\(path)' was not written: another program has its folder locked.")
        }
    }

    private func current() throws(Failure) -> RunMetrics {
        guard NewFile.exists(path) else { return RunMetrics() }
        let file = try OwnFile.open(
            path, O_RDONLY, name: "The metrics file '\(path)'", action: "cannot be replaced",
            reason: "metrics")
        guard let metrics = try metrics(in: file) else {
            throw Failure(
                .outputExists, "metrics",
                "'\(path)' is not a metrics file that coffer has written, and was not changed. Give "
                    + "--metrics another name."
            )
        }
        return metrics
    }

    /// - Precondition: the folder is locked, so a file with the temporary name was left by a run that was
    ///   killed.
    private func replace(by text: String) throws(Errno) {
        // The collector ignores the temporary file, because its name does not end in ".prom".
        let temporary = "\(FileNames.folder(of: path))/.coffer-metrics-\(FileNames.name(of: path)).tmp"
        if unsafe unlink(temporary) != 0, errno != ENOENT { throw Errno.last }
        let file = try Descriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        do throws(Errno) {
            try file.write(text)
            try file.setPermissions(MetricsFile.mode)
            try file.synchronize()
            try systemCall("rename") { unsafe rename(temporary, path) }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
    }
}
