/// What the lines of a log prove, read one after the other.
struct AuditChain {
    /// Why a log is not whole.
    enum Problem: Equatable {
        /// The first line that does not fit, from 1 on.
        case broken(line: Int)
        /// There is no record in it.
        case noRecords
        /// It is chained with a secret, and none was given.
        case needsSecret
        /// It is chained with another secret than the one that was given.
        case otherSecret
        /// A line is chained without a secret, and one was given.
        case notSealed(line: Int)
    }

    private let seal: AuditSeal

    private(set) var recordCount = 0
    private(set) var lastHash = AuditRecord.firstPrevious
    private(set) var lastSequence = 0

    /// Lines that were not written to their end, as a crash leaves them. The record after one vouches for it.
    private(set) var tornLineCount = 0

    /// The hash of a torn line at the end.
    private(set) var tornEnd: String?

    /// The first thing that is wrong.
    private(set) var problem: Problem?

    private var lineNumber = 0

    init(seal: AuditSeal) {
        self.seal = seal
    }

    /// Takes a line, without its end. Nothing counts any more after a problem.
    mutating func add(_ line: [UInt8]) throws(Failure) {
        lineNumber += 1
        guard problem == nil, !line.isEmpty else { return }
        guard let record = AuditRecord(line) else {
            // Two in a row, or one that the next record does not know, is no accident.
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

    /// What is wrong with the log as a whole.
    var finding: Problem? { problem ?? (recordCount == 0 ? .noRecords : nil) }
}

extension AuditChain {
    /// Takes lines from where a file stands up to its end, or to the first thing that is wrong.
    ///
    /// - Parameter onRecord: called with the hash of each record that fits, and with its bytes.
    /// - Returns: whether the last line has its end.
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

extension Failure {
    /// What is wrong with the chain of a log.
    init(_ problem: AuditChain.Problem, log: String) {
        switch problem {
        case .broken(let line):
            self.init(
                .badData, "broken_chain", "The chain of the audit log '\(log)' is broken at line \(line).")
        case .noRecords:
            self.init(.badData, "no_records", "'\(log)' has no record of an audit log, and proves nothing.")
        case .needsSecret:
            self.init(
                .keyRejected, "no_key",
                "The audit log '\(log)' is chained with a secret. Give it with --audit-key-file or another "
                    + "of these options."
            )
        case .otherSecret:
            self.init(
                .keyRejected, "wrong_key",
                "The audit log '\(log)' is chained with another secret than the one that was given.")
        case .notSealed(let line):
            self.init(
                .badData, "no_secret",
                "Line \(line) of the audit log '\(log)' is chained without a secret: it is not of those who "
                    + "have the one that was given."
            )
        }
    }
}
