internal import Glibc

/// A file of metrics, as the textfile collector of node_exporter reads it: always whole, and open to its
/// user.
///
/// Whoever changes it locks its folder, reads what is there, and puts a new file in its place in one step.
/// Only a file that this tool has written is replaced, and never a link.
struct MetricsFile: Sendable {
    let path: String

    /// The collector runs as another user. What is in the file is no secret.
    private static let mode: mode_t = 0o644

    /// More than any fleet has.
    private static let longest = 64 << 20

    // MARK: Reading

    /// What a monitor sees: also of a file of another user, and through links.
    func read() throws(Failure) -> RunMetrics {
        let file = try Descriptor.reading(path, name: "The file of metrics '\(path)'", flags: O_NONBLOCK)
        guard let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG,
            let metrics = try metrics(in: file)
        else {
            throw Failure(.badData, "metrics", "'\(path)' is not a file of metrics that coffer has written.")
        }
        return metrics
    }

    /// Nil for something else.
    private func metrics(in file: borrowing Descriptor) throws(Failure) -> RunMetrics? {
        do throws(SystemError) {
            let bytes = try file.read(count: MetricsFile.longest + 1)
            return bytes.count > MetricsFile.longest ? nil : RunMetrics(bytes)
        } catch {
            throw Failure(error, "The file of metrics '\(path)' cannot be read")
        }
    }

    // MARK: Writing

    /// Adds to what is there.
    ///
    /// - Parameter patience: how long others may take that change it too, in seconds.
    func update(patience: Double, _ change: (inout RunMetrics) -> Void) throws(Failure) {
        let folder = try lockedFolder(patience: patience)
        var metrics = try current()
        change(&metrics)
        do throws(SystemError) {
            try replace(by: metrics.text)
            try folder.synchronize()
        } catch {
            throw Failure(
                error, "The file of metrics '\(path)' cannot be written", missing: .outputExists,
                denied: .outputExists)
        }
    }

    /// The folder is locked, as the file itself is another one after each change.
    private func lockedFolder(patience: Double) throws(Failure) -> Descriptor {
        let name = FileNames.folder(of: path)
        do throws(SystemError) {
            let folder = try Descriptor(opening: name, O_RDONLY | O_DIRECTORY)
            let end = ContinuousClock.now + .seconds(patience)
            while Retry.onInterrupt({ flock(folder.number, LOCK_EX | LOCK_NB) }) != 0 {
                let error = SystemError.last
                guard error.code == EWOULDBLOCK, ContinuousClock.now < end else { throw error }
                usleep(20_000)
            }
            return folder
        } catch {
            guard error.code == EWOULDBLOCK else {
                throw Failure(
                    error, "The folder of the file of metrics '\(path)' cannot be locked",
                    missing: .outputExists, denied: .outputExists)
            }
            throw Failure(
                .busy, "busy",
                "The file of metrics '\(path)' was not written: another program has its folder locked.")
        }
    }

    private func current() throws(Failure) -> RunMetrics {
        guard NewFile.exists(path) else { return RunMetrics() }
        let file = try OwnFile.open(
            path, O_RDONLY, name: "The file of metrics '\(path)'", action: "cannot be replaced",
            reason: "metrics")
        guard let metrics = try metrics(in: file) else {
            throw Failure(
                .outputExists, "metrics",
                "'\(path)' is not a file of metrics that coffer has written, and is left as it is. Give "
                    + "--metrics another name."
            )
        }
        return metrics
    }

    /// - Precondition: the folder is locked, so that what has the name of the new file was left by a run that
    ///   was killed.
    private func replace(by text: String) throws(SystemError) {
        // No collector takes it for a file of metrics: those end with ".prom".
        let temporary = "\(FileNames.folder(of: path))/.coffer-metrics-\(FileNames.name(of: path)).tmp"
        if unsafe unlink(temporary) != 0, errno != ENOENT { throw SystemError.last }
        let file = try Descriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        do throws(SystemError) {
            try file.write(text)
            guard fchmod(file.number, MetricsFile.mode) == 0 else { throw SystemError.last }
            try file.synchronize()
            guard unsafe rename(temporary, path) == 0 else { throw SystemError.last }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
    }
}
