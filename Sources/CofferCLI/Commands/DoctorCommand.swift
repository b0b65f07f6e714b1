internal import ArgumentParser
internal import Coffer
internal import Foundation
internal import Glibc
internal import SQLCipherBridge
internal import SystemCalls

struct DoctorCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check a machine, and folders of databases and keys, for problems.",
        usage: "coffer doctor [<path>...] [options]",
        discussion: """
            Checks the engine, its age and known faults, the random generator, the limit of locked memory, \
            and core dumps. With folders or files, also checks who can read keys, write to databases and \
            rename files, and looks for databases without encryption, under any name, and for leftovers of \
            interrupted runs, such as keyrings without their backups, and for damaged keyrings. Shows how to \
            fix each problem, and the files that it could not check. Changes nothing, needs no key, and \
            follows no links. Exit code 1 if there is something to fix; warnings, which only the builder of \
            this program can fix, do not count.

            EXAMPLES
              coffer doctor
              coffer doctor /srv/app /etc/coffer
            """)

    @Argument(help: "Files, and folders with all their content.", completion: .file())
    var paths: [String] = []

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings(paths))])
        var findings = try MachineExamination.findings()
        for path in paths {
            try FileNames.checkReadable(path)
            findings += try FolderExamination(path) { try session.interruption.check() }.findings()
        }
        for finding in findings { finding.tell(session.reporter) }
        let count = findings.count(where: \.isToMend)
        let warnings = findings.count(where: \.isWarning)
        session.reporter.note(
            (count == 0 ? "nothing to fix" : "\(TextLayout.counted(count, "problem", "problems")) to fix")
                + (warnings == 0 ? "" : ", \(TextLayout.counted(warnings, "warning", "warnings"))"))
        return count == 0 ? .done : .answerIsNo
    }
}

/// The result of one check, with advice.
struct Finding {
    /// The keyword of the check, for scripts.
    let check: String
    var path: String?
    let words: String
    /// The recommended action, or nil if all is well.
    var advice: String?

    /// True if only the developers of the program can fix the problem. The operator of the machine cannot, so
    /// the exit code stays 0.
    var isWarning = false

    var isToMend: Bool { advice != nil && !isWarning }

    func tell(_ reporter: Reporter) {
        let place = path ?? check
        var lines = ["\(advice == nil ? "good" : isWarning ? "warn" : "FIX ")  \(place): \(words)"]
        if let advice { lines.append("      \(advice)") }
        reporter.result(
            [
                .init("check", .string(check)), .init("path", .optional(path)),
                .init("good", .bool(advice == nil)),
                .init("warning", .bool(isWarning)), .init("finding", .string(words)),
                .init("advice", .optional(advice)),
            ], text: lines, isAnswer: isToMend)
    }
}

/// Examines the machine that this process runs on.
enum MachineExamination {
    static func findings() throws -> [Finding] {
        try [engine()] + EngineAge.ofThisProgram.findings + [entropy(), lockedMemory(), coreDumps()]
    }

    private static func engine() throws -> Finding {
        let versions = try EngineVersions()
        return Finding(
            check: "engine",
            words: (versions.lines + [versions.origin, versions.pages.words]).joined(separator: ", "))
    }

    private static func entropy() -> Finding {
        // The nonblocking read returns nothing until the generator is ready.
        let byte = try? Descriptor(opening: "/dev/random", O_RDONLY | O_NONBLOCK).readAll(upTo: 1)
        let isReady = byte?.count == 1
        return Finding(
            check: "entropy",
            words: isReady
                ? "the system's random generator is ready"
                : "the system's random generator is not ready",
            advice: isReady
                ? nil : "Wait until the machine has started, or give it a source of randomness (virtio-rng).")
    }

    /// Checks the limit on locked memory: keys in unlocked memory may be swapped out.
    private static func lockedMemory() -> Finding {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
        let isUnlimited = limit.rlim_cur == rlim_t.max || geteuid() == 0
        // Keep a key alive while the memory is counted.
        let key = DatabaseKey.random()
        let unlocked = withExtendedLifetime(key) { DatabaseKey.memoryUse.unlockedByteCount }
        var words = isUnlimited ? "no limit" : TextLayout.size(Int64(clamping: limit.rlim_cur))
        if unlocked > 0 {
            words += ", and a key of this process could not be locked"
        } else if !isUnlimited {
            let count = Int(clamping: limit.rlim_cur) / DatabaseKey.lockedByteCountOfPool
            let pools = TextLayout.counted(count, "pool", "pools")
            words += ", enough for the keys of about \(pools) of one process"
        }
        let isEnough = unlocked == 0 && (limit.rlim_cur >= 64 * 1024 || isUnlimited)
        return Finding(
            check: "locked memory", words: words,
            advice: isEnough
                ? nil
                : "Keys may be written to the swap space. Raise the limit: 'ulimit -l', or LimitMEMLOCK= in "
                    + "a unit."
        )
    }

    /// Reports the core dump limit of the parent process. Coffer never dumps core, but other programs that
    /// hold keys do if they are started with the same limits.
    private static func coreDumps() -> Finding {
        let text = KernelText.read("/proc/\(getppid())/limits") ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        guard let soft = line?.dropFirst("Max core file size".count).split(separator: " ").first else {
            return Finding(
                check: "core dumps", words: "coffer writes none; the limit of other programs is unknown")
        }
        guard soft != "0" else { return Finding(check: "core dumps", words: "off") }
        return Finding(
            check: "core dumps",
            words:
                "coffer writes none, but programs started from here do, with the keys in their "
                + "memory",
            advice: "Turn them off for programs that use keys: 'ulimit -c 0', or LimitCORE=0 in a unit.")
    }
}

/// Examines who can access the databases and keys below a folder.
struct FolderExamination {
    private let path: String
    private let checkpoint: () throws -> Void

    init(_ path: String, checkpoint: @escaping () throws -> Void) {
        self.path = path
        self.checkpoint = checkpoint
    }

    func findings() throws -> [Finding] {
        var result: [Finding] = []
        var (count, waiting) = (0, [path])
        while let next = waiting.popLast() {
            try checkpoint()
            let status: FileStatus
            do throws(Errno) { status = try FileStatus(next) } catch {
                // A file that was removed during the scan needs no finding.
                if error.code != ENOENT { result.append(FolderExamination.unseen(next)) }
                continue
            }
            switch status.mode & S_IFMT {
            case S_IFDIR:
                result += folder(next, status)
                do throws(Errno) {
                    let all = try Folder.names(in: next)
                    let names = all.compactMap { String(validating: $0, as: UTF8.self) }
                    let others = all.filter { String(validating: $0, as: UTF8.self) == nil }
                        .map { String(decoding: $0, as: UTF8.self) }
                    waiting += names.sorted(by: >).map { next.hasSuffix("/") ? next + $0 : "\(next)/\($0)" }
                    result += others.sorted().map { name in
                        Finding(
                            check: "name", path: next,
                            words:
                                "contains a file whose name is not UTF-8, which was not checked: "
                                + "\(name)",
                            advice: "Rename it, and run this again.")
                    }
                } catch {
                    result.append(FolderExamination.unseen(next))
                }
            case S_IFREG:
                count += 1
                result += try file(next, status)
            default: continue
            }
        }
        let summary = Finding(
            check: "files", path: path, words: "\(TextLayout.counted(count, "file", "files")) checked")
        return [summary] + result
    }

    private static func unseen(_ path: String) -> Finding {
        Finding(
            check: "unreadable", path: path, words: "cannot be read",
            advice: "Run this as the user that owns it.")
    }

    /// The suffixes of the notes that interrupted runs leave.
    private static let noteEndings = ["rotate", "upgrade", "encrypt", "decrypt", "vacuum"].map {
        ".\($0).json"
    }

    /// The first bytes of an unencrypted SQLite database.
    private static let plaintextStart = Array("SQLite format 3\0".utf8)

    private func folder(_ path: String, _ status: FileStatus) -> [Finding] {
        guard status.mode & 0o022 != 0, status.mode & S_ISVTX == 0 else { return [] }
        return [
            Finding(
                check: "folder", path: path,
                words: "others can rename and replace its files (mode \(mode(status)))",
                advice: "Run 'chmod go-w' on it.")
        ]
    }

    private func file(_ path: String, _ status: FileStatus) throws -> [Finding] {
        let name = FileNames.name(of: path)
        if name.hasPrefix(NewFile.partPrefix) {
            return [
                Finding(
                    check: "leftover", path: path, words: "a partial dump that is readable without a key",
                    advice: "Remove it if no dump is running here.")
            ]
        }
        if name.hasPrefix(".coffer-") || FolderExamination.noteEndings.contains(where: name.hasSuffix) {
            return [
                Finding(
                    check: "leftover", path: path,
                    words:
                        "of an active or interrupted run (\(TextLayout.size(status.size)))",
                    advice:
                        "If no run is active, run the same command again: it completes or removes it.")
            ]
        }
        let start = FolderExamination.start(of: path)
        if name.hasSuffix(".keys"), !NewFile.exists(String(path.dropLast(".keys".count))),
            name.hasSuffix(".backup.keys") || start?.starts(with: "coffer keyring ".utf8) == true
        {
            return [
                Finding(
                    check: "leftover", path: path,
                    words: "the keyring of a missing database: its run is active or was interrupted, or "
                        + "the database was moved",
                    advice: "Remove it if no copy is running here and its database was not moved.")
            ]
        }
        if name.hasSuffix(".keys"), let start, !start.isEmpty, start.allSatisfy({ $0 == 0 }) {
            return [
                Finding(
                    check: "leftover", path: path,
                    words: "a keyring that was overwritten and not removed: its run is active or was "
                        + "interrupted",
                    advice: "Run 'coffer erase' or 'coffer key destroy' again. To keep the database, use "
                        + "'coffer key restore-header'.")
            ]
        }
        if let finding = keyring(path, start) { return [finding] }
        if start == FolderExamination.plaintextStart { return try database(path, status) }
        let lowered = name.lowercased()
        if lowered.hasSuffix(".key") { return key(path, status) }
        if FolderExamination.databaseEndings.contains(where: lowered.hasSuffix) {
            return try database(path, status)
        }
        // The file cannot be read, so it may or may not be a database.
        return start == nil ? [FolderExamination.unseen(path)] : []
    }

    /// The suffixes of the names that databases usually have.
    private static let databaseEndings = [".db", ".sqlite", ".sqlite3", ".db3"]

    /// Returns the damage of a keyring, or nil for another file.
    private func keyring(_ path: String, _ start: [UInt8]?) -> Finding? {
        guard path.hasSuffix(".keys"), let start else { return nil }
        let database = String(path.dropLast(".keys".count))
        let isKeyring =
            start.starts(with: "coffer keyring ".utf8)
            || FolderExamination.databaseEndings.contains(where: database.lowercased().hasSuffix)
        guard isKeyring, let keyring = KeyringFacts(of: database), let damage = keyring.damage else {
            return nil
        }
        return Finding(check: "keyring", path: path, words: damage, advice: keyring.advice)
    }

    /// Returns the first bytes of a file, or nil if it cannot be read.
    private static func start(of path: String) -> [UInt8]? {
        try? Descriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).readAll(upTo: plaintextStart.count)
    }

    private func key(_ path: String, _ status: FileStatus) -> [Finding] {
        guard status.isOwn || status.userID == 0 else {
            return [
                Finding(
                    check: "key", path: path, words: "belongs to user \(status.userID), who knows the key",
                    advice: "If that is not intended, rotate the files that it opens to a key of your own.")
            ]
        }
        guard status.mode & 0o077 != 0 else { return [] }
        return [
            Finding(
                check: "key", path: path, words: "others can read it or write to it (mode \(mode(status)))",
                advice: "Run 'chmod 600' on it. If others may have read it, rotate the files that it opens.")
        ]
    }

    private func database(_ path: String, _ status: FileStatus) throws -> [Finding] {
        var result: [Finding] = []
        switch try? DatabaseFile(path: path).inspect().kind {
        case .plaintext?:
            result.append(
                Finding(
                    check: "plaintext", path: path, words: "is not encrypted",
                    advice: "Encrypt it with 'coffer encrypt', or move it away if that is intended."))
        case .empty?:
            result.append(
                Finding(
                    check: "empty", path: path, words: "is empty",
                    advice: "Restore it from a backup, unless it was never used."))
        case nil:
            result.append(
                Finding(
                    check: "unreadable", path: path, words: "cannot be read",
                    advice: "Run this as the user that owns it."))
        default: break
        }
        if status.mode & 0o022 != 0 {
            result.append(
                Finding(
                    check: "database", path: path, words: "others can write to it (mode \(mode(status)))",
                    advice: "Run 'chmod go-w' on it, unless they are meant to."))
        } else if status.mode & 0o044 != 0 {
            result.append(
                Finding(
                    check: "database", path: path,
                    words: "others can copy it, and try keys on the copy (mode \(mode(status)))",
                    advice: "Run 'chmod go-r' on it, unless they are meant to read it."))
        }
        return result
    }

    private func mode(_ status: FileStatus) -> String { String(status.mode & 0o7777, radix: 8) }
}
