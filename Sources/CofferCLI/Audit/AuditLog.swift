internal import Foundation
internal import Glibc

/// A file to which lines are only added, by any number of processes.
struct AuditLog: Sendable {
    let path: String

    /// No record is longer, a path of 4096 bytes in JSON included.
    private static let longestLine = 131_072

    /// Adds a record, and returns when it is on the disk.
    func append(_ members: [JSONValue.Member]) throws(Failure) {
        let file = try open()
        do throws(SystemError) {
            // Held until the file is closed: the chain is read and continued in one piece.
            guard Retry.onInterrupt({ flock(file.number, LOCK_EX) }) == 0 else { throw SystemError.last }
            let tail = try Tail(file, limit: AuditLog.longestLine)
            let line = try tail.next(members)
            try file.write(line)
            try file.synchronize()
        } catch {
            throw Failure(.inputOutput, "audit", "The audit log '\(path)' cannot be written: \(error.words).")
        }
    }

    /// Fails unless records can be added.
    func checkIsWritable() throws(Failure) { _ = try open() }

    private func open() throws(Failure) -> Descriptor {
        do throws(SystemError) {
            let file = try Descriptor(opening: path, O_RDWR | O_APPEND | O_CREAT, mode: 0o600)
            guard try file.status().st_mode & S_IFMT == S_IFREG else { throw SystemError(code: EINVAL) }
            return file
        } catch {
            throw Failure(.outputExists, "audit", "The audit log '\(path)' cannot be written: \(error.words).")
        }
    }
}

/// The end of the log, to which the next record is chained.
private struct Tail {
    private var previous = AuditRecord.firstPrevious
    private var sequence = 0
    /// Whether the last line was not written to its end.
    private var isTorn = false
    private var lacksNewline = false

    init(_ file: borrowing Descriptor, limit: Int) throws(SystemError) {
        let size = try Int(file.status().st_size)
        guard size > 0 else { return }
        let start = max(0, size - limit)
        guard lseek(file.number, off_t(start), SEEK_SET) >= 0 else { throw SystemError.last }
        let text = try String(decoding: file.read(count: size - start), as: UTF8.self)
        lacksNewline = !text.hasSuffix("\n")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        guard let last = lines.last else { return }
        if let record = try? AuditRecord(line: last) {
            previous = record.hash
            sequence = record.sequence
        } else {
            isTorn = true
            previous = (try? AuditRecord.digest(last)) ?? AuditRecord.firstPrevious
            sequence = lines.dropLast().last.flatMap { try? AuditRecord(line: $0) }?.sequence ?? 0
        }
    }

    func next(_ members: [JSONValue.Member]) throws(SystemError) -> String {
        do throws(Failure) {
            let line = try AuditRecord.line(members, sequence: sequence + 1, previous: previous, followsTornLine: isTorn)
            return (lacksNewline ? "\n" : "") + line + "\n"
        } catch {
            throw SystemError(code: EIO)
        }
    }
}
