internal import ArgumentParser
internal import Coffer
internal import Foundation
internal import Glibc
internal import SQLCipherBridge

struct DoctorCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look for what is wrong with a machine, and with folders of databases and keys.",
        usage: "coffer doctor [<path>...] [options]",
        discussion: """
            Looks at the engine, its age and its known faults, the random generator, the limit of locked \
            memory and core dumps; and with folders or files, at who can read keys, write to databases and \
            rename what is there, at databases without encryption, whatever their names are, and at what \
            interrupted runs have left, such as keyrings of backups that are not there. \
            Says what to do about each, and what it could not look at. Changes nothing, needs no key, and \
            follows no links. Exit code 1 when there is something to mend; warnings, which \
            are for whoever builds this program, do not count.

            EXAMPLES
              coffer doctor
              coffer doctor /srv/app /etc/coffer
            """)

    @Argument(help: "Folders, with all that is in them, and files.", completion: .file())
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
            (count == 0 ? "nothing to mend" : "\(TextLayout.counted(count, "thing", "things")) to mend")
                + (warnings == 0 ? "" : ", \(TextLayout.counted(warnings, "warning", "warnings"))"))
        return count == 0 ? .done : .answerIsNo
    }
}

/// Something that was looked at, and what to do about it.
struct Finding {
    /// A word for scripts.
    let check: String
    var path: String?
    let words: String
    /// What to do; nil where all is well.
    var advice: String?

    /// Whether it is for whoever builds the program: whoever keeps the machine cannot mend it, and the exit
    /// code is 0 all the same.
    var isWarning = false

    var isToMend: Bool { advice != nil && !isWarning }

    func tell(_ reporter: Reporter) {
        let place = path ?? check
        var lines = ["\(advice == nil ? "good" : isWarning ? "warn" : "MEND")  \(place): \(words)"]
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

/// What a process finds on the machine that it runs on.
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
        // It does not answer before it is ready.
        let byte = try? Descriptor(opening: "/dev/random", O_RDONLY | O_NONBLOCK).read(count: 1)
        let isReady = byte?.count == 1
        return Finding(
            check: "entropy",
            words: isReady
                ? "the random generator of the system is ready"
                : "the random generator of the system is not ready",
            advice: isReady
                ? nil : "Wait until the machine has started, or give it a source of randomness (virtio-rng).")
    }

    /// Keys in memory that is not locked may get into the swap space.
    private static func lockedMemory() -> Finding {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
        let isUnlimited = limit.rlim_cur == rlim_t.max || geteuid() == 0
        // A key that lives while the memory is counted.
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
                : "Keys may be written to the swap space. Raise the limit: 'ulimit -l', or LimitMEMLOCK= of "
                    + "a unit."
        )
    }

    /// Coffer makes none; other programs with keys in their memory do, where they are started as this process
    /// was.
    private static func coreDumps() -> Finding {
        let text = KernelText.read("/proc/\(getppid())/limits") ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        guard let soft = line?.dropFirst("Max core file size".count).split(separator: " ").first else {
            return Finding(
                check: "core dumps", words: "coffer makes none; the limit of other programs is not known")
        }
        guard soft != "0" else { return Finding(check: "core dumps", words: "off") }
        return Finding(
            check: "core dumps",
            words:
                "coffer makes none, but programs that are started from here do, with the keys in their "
                + "memory",
            advice: "Turn them off where programs use keys: 'ulimit -c 0', or LimitCORE=0 of a unit.")
    }
}

/// Who can do what to databases and keys below a folder.
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
            var status = stat()
            guard unsafe lstat(next, &status) == 0 else {
                // What has gone in between is no finding.
                if errno != ENOENT { result.append(FolderExamination.unseen(next)) }
                continue
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                result += folder(next, status)
                do throws(SystemError) {
                    let (names, others) = try FolderExamination.names(in: next)
                    waiting += names.sorted(by: >).map { next.hasSuffix("/") ? next + $0 : "\(next)/\($0)" }
                    result += others.sorted().map { name in
                        Finding(
                            check: "name", path: next,
                            words:
                                "has something with a name that is not UTF-8, and that was not looked at: "
                                + "\(name)",
                            advice: "Give it another name, and run this again.")
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
            check: "files", path: path, words: "\(TextLayout.counted(count, "file", "files")) looked at")
        return [summary] + result
    }

    private static func unseen(_ path: String) -> Finding {
        Finding(
            check: "unreadable", path: path, words: "cannot be looked at",
            advice: "Run this as the user that owns it.")
    }

    /// What is in a folder: the names that are texts, and those that are none, as far as they can be shown.
    private static func names(in folder: String) throws(SystemError) -> (names: [String], others: [String]) {
        guard let stream = unsafe opendir(folder) else { throw SystemError.last }
        defer { unsafe closedir(stream) }
        var (names, others) = ([String](), [String]())
        while let entry = unsafe readdir(stream) {
            let bytes = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                let text = unsafe UnsafeRawPointer(name).assumingMemoryBound(to: UInt8.self)
                return unsafe [UInt8](
                    UnsafeBufferPointer(
                        start: text,
                        count: strnlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self), 255)))
            }
            guard let name = String(validating: bytes, as: UTF8.self) else {
                others.append(String(decoding: bytes, as: UTF8.self))
                continue
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return (names, others)
    }

    /// How the names of notes of interrupted runs end.
    private static let noteEndings = ["rotate", "upgrade", "encrypt", "decrypt", "vacuum"].map {
        ".\($0).json"
    }

    /// What a file of SQLite without encryption begins with.
    private static let plaintextStart = Array("SQLite format 3\0".utf8)

    private func folder(_ path: String, _ status: stat) -> [Finding] {
        guard status.st_mode & 0o022 != 0, status.st_mode & S_ISVTX == 0 else { return [] }
        return [
            Finding(
                check: "folder", path: path,
                words: "others can rename and replace what is in it (mode \(mode(status)))",
                advice: "Run 'chmod go-w' on it.")
        ]
    }

    private func file(_ path: String, _ status: stat) throws -> [Finding] {
        let name = FileNames.name(of: path)
        if name.hasPrefix(NewFile.partPrefix) {
            return [
                Finding(
                    check: "leftover", path: path, words: "a part of a script that can be read without a key",
                    advice: "Remove it, if no dump works here.")
            ]
        }
        if name.hasPrefix(".coffer-") || FolderExamination.noteEndings.contains(where: name.hasSuffix) {
            return [
                Finding(
                    check: "leftover", path: path,
                    words:
                        "of a run that works, or was interrupted (\(TextLayout.size(Int64(status.st_size))))",
                    advice:
                        "If none works on the file, run the same command again: it completes or removes it.")
            ]
        }
        let start = FolderExamination.start(of: path)
        if name.hasSuffix(".keys"), !NewFile.exists(String(path.dropLast(".keys".count))),
            name.hasSuffix(".backup.keys") || start?.starts(with: "coffer keyring ".utf8) == true
        {
            return [
                Finding(
                    check: "leftover", path: path,
                    words: "the keyring of a database that is not there: its run works, was interrupted, or "
                        + "the database was moved",
                    advice: "If no copy works here, and no database was moved away from it, remove it.")
            ]
        }
        if start == FolderExamination.plaintextStart { return try database(path, status) }
        let lowered = name.lowercased()
        if lowered.hasSuffix(".key") { return key(path, status) }
        if [".db", ".sqlite", ".sqlite3", ".db3"].contains(where: lowered.hasSuffix) {
            return try database(path, status)
        }
        // Whether it is a database is not known.
        return start == nil ? [FolderExamination.unseen(path)] : []
    }

    /// The first bytes of a file; nil if it cannot be read.
    private static func start(of path: String) -> [UInt8]? {
        try? Descriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).read(count: plaintextStart.count)
    }

    private func key(_ path: String, _ status: stat) -> [Finding] {
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            return [
                Finding(
                    check: "key", path: path, words: "belongs to user \(status.st_uid), who knows the key",
                    advice: "If that is not intended, rotate what it opens, with a key of your own.")
            ]
        }
        guard status.st_mode & 0o077 != 0 else { return [] }
        return [
            Finding(
                check: "key", path: path, words: "others can read it, or write to it (mode \(mode(status)))",
                advice: "Run 'chmod 600' on it, and rotate what it opens if others may have read it.")
        ]
    }

    private func database(_ path: String, _ status: stat) throws -> [Finding] {
        var result: [Finding] = []
        switch try? DatabaseFile(path: path).inspect().kind {
        case .plaintext?:
            result.append(
                Finding(
                    check: "plaintext", path: path, words: "is not encrypted",
                    advice: "See 'coffer encrypt'; or move it away, if that is intended."))
        case .empty?:
            result.append(
                Finding(
                    check: "empty", path: path, words: "has no bytes",
                    advice: "Restore it from a backup, unless it never had any."))
        case nil:
            result.append(
                Finding(
                    check: "unreadable", path: path, words: "cannot be read",
                    advice: "Run this as the user that owns it."))
        default: break
        }
        if status.st_mode & 0o022 != 0 {
            result.append(
                Finding(
                    check: "database", path: path, words: "others can write to it (mode \(mode(status)))",
                    advice: "Run 'chmod go-w' on it, unless they are meant to."))
        } else if status.st_mode & 0o044 != 0 {
            result.append(
                Finding(
                    check: "database", path: path,
                    words: "others can copy it, and try keys on the copy (mode \(mode(status)))",
                    advice: "Run 'chmod go-r' on it, unless they are meant to read it."))
        }
        return result
    }

    private func mode(_ status: stat) -> String { String(status.st_mode & 0o7777, radix: 8) }
}
