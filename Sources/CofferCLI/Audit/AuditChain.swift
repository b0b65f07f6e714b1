internal import Glibc
internal import SystemCalls

/// Verifies the hash chain of an audit log, one line at a time.
struct AuditChain {
    /// The reason that a log failed verification.
    enum Problem: Equatable {
        /// The first line that does not fit the chain, counted from 1.
        case broken(line: Int)
        /// The log contains no records.
        case noRecords
        /// The log is chained with a secret, but none was given.
        case needsSecret
        /// The log is chained with a different secret.
        case otherSecret
        /// A line is chained without a secret, although one was given.
        case notSealed(line: Int)
    }

    private let seal: AuditSeal

    /// True if the log is chained with a secret.
    var isSealed: Bool { seal.hasSecret }

    private(set) var recordCount = 0
    private(set) var lastHash = AuditRecord.firstPrevious
    private(set) var lastSequence = 0

    /// The number of lines that a crash cut off. The record that follows such a line vouches for it.
    private(set) var tornLineCount = 0

    /// The hash of a torn line at the end of the log.
    private(set) var tornEnd: String?

    /// The first problem that was found.
    private(set) var problem: Problem?

    private var lineNumber = 0

    init(seal: AuditSeal) {
        self.seal = seal
    }

    /// Adds a line, without its line ending. After a problem, further lines are ignored.
    mutating func add(_ line: [UInt8]) throws(Failure) {
        lineNumber += 1
        guard problem == nil, !line.isEmpty else { return }
        guard let record = AuditRecord(line) else {
            // A crash leaves a single torn line, and the next record refers to it. Anything else is
            // tampering.
            guard tornEnd == nil, AuditRecord.mayBeTorn(line) else {
                problem = .broken(line: tornEnd == nil ? lineNumber : lineNumber - 1)
                return
            }
            tornEnd = try seal.hash(line[...])
            tornLineCount += 1
            return
        }
        problem = try problem(with: record)
        guard problem == nil else { return }
        tornEnd = nil
        recordCount += 1
        lastHash = record.hash
        lastSequence = record.sequence
    }

    private func problem(with record: AuditRecord) throws(Failure) -> Problem? {
        guard record.keyID == seal.keyID else {
            guard seal.hasSecret else { return .needsSecret }
            return record.keyID == nil ? .notSealed(line: lineNumber) : .otherSecret
        }
        guard record.previous == tornEnd ?? lastHash, record.sequence == lastSequence + 1,
            record.followsTornLine == (tornEnd != nil)
        else {
            return .broken(line: tornEnd == nil ? lineNumber : lineNumber - 1)
        }
        return try record.isSealed(by: seal) ? nil : .broken(line: lineNumber)
    }

    /// The verdict on the whole log, or nil if the log is intact.
    var finding: Problem? { problem ?? (recordCount == 0 ? .noRecords : nil) }
}

extension AuditChain {
    /// Adds the lines from the current offset of a file up to its end, or up to the first problem.
    ///
    /// - Parameter onRecord: called with the hash and the bytes of each valid record.
    /// - Returns: true if the last line is terminated.
    @discardableResult
    mutating func add(
        linesOf file: borrowing Descriptor, onRecord: (String, [UInt8]) throws -> Void = { _, _ in }
    ) throws -> Bool {
        var reader = LineReader(file.number, limit: AuditRecord.longestLine)
        var isTerminated = true
        while problem == nil {
            let line: LineReader.Line?
            do throws(LineReader.Problem) {
                line = try reader.next()
            } catch {
                switch error {
                case .system(let error): throw error
                case .tooLong: problem = .broken(line: lineNumber + 1)
                }
                break
            }
            guard let line else { break }
            isTerminated = line.isTerminated
            let before = recordCount
            try add(line.bytes)
            if recordCount > before { try onRecord(lastHash, line.bytes) }
        }
        return isTerminated
    }
}

extension AuditChain {
    /// Reads and verifies a whole log.
    ///
    /// - Parameter onRecord: called with the hash and the bytes of each valid record.
    /// - Throws: ``Failure`` if the log cannot be read or is not intact.
    init(
        log path: String, seal: @autoclosure () throws -> AuditSeal, onRecord: (String, [UInt8]) -> Void
    ) throws {
        // NONBLOCK: if the path is a pipe, the tool must not wait for its writer.
        let descriptor = try Descriptor.reading(path, name: "The audit log '\(path)'", flags: O_NONBLOCK)
        self.init(seal: try seal())
        do {
            if try descriptor.status().isRegular {
                try AuditChain.lock(descriptor, path)
            } else {
                guard descriptor.isUnnamedPipe else {
                    throw Failure(.badData, "no_records", "'\(path)' is not a file, and proves nothing.")
                }
                try descriptor.waitForInput()
            }
            try add(linesOf: descriptor, onRecord: onRecord)
        } catch let error as Errno {
            throw Failure(error, "The audit log '\(path)' cannot be read")
        }
        if let finding { throw Failure(finding, log: path) }
    }

    /// Keeps a writer from being halfway through a record. File systems without locks have no other writers.
    private static func lock(_ file: borrowing Descriptor, _ path: String) throws(Failure) {
        do throws(Errno) {
            try AuditLog.lock(file, LOCK_SH, within: AuditLog.patience)
        } catch {
            guard error.code == EWOULDBLOCK else { return }
            throw Failure(.busy, "busy", "Another process holds the lock of the audit log '\(path)'.")
        }
    }
}

extension Failure {
    /// Creates the failure that reports a problem with the chain of a log.
    init(_ problem: AuditChain.Problem, log: String) {
        switch problem {
        case .broken(let line):
            self.init(
                .badData, "broken_chain", "The chain of the audit log '\(log)' is broken at line \(line).")
        case .noRecords:
            self.init(.badData, "no_records", "'\(log)' has no audit records, so it proves nothing.")
        case .needsSecret:
            self.init(
                .keyRejected, "no_key",
                "The audit log '\(log)' is chained with a secret. Give its source, as in "
                    + "--audit-key file:PATH."
            )
        case .otherSecret:
            self.init(
                .keyRejected, "wrong_key",
                "The audit log '\(log)' is chained with another secret.")
        case .notSealed(let line):
            self.init(
                .badData, "no_secret",
                "Line \(line) of the audit log '\(log)' is chained without a secret: it was not written "
                    + "with the given one."
            )
        }
    }
}
