internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import SystemCalls

struct AuditFindKeyCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "find-key",
        abstract: "List the files that a key still opens, according to audit logs.",
        usage: "coffer audit find-key <log>... [options]",
        discussion: """
            Takes logs of commands that ran with the site secret, and the key or its identifier. The last \
            record of each file counts: a file is listed if the key opened it then, or if an interrupted \
            command may have left it so. Kept old files and copies are listed too. Exit code 0 if no file is \
            found, 1 otherwise. A log knows only coffer's own work: files copied in another way are not in \
            it, and 'coffer batch info' with the key is the proof. Files that no command has opened with the \
            site secret are listed as unknown, and count as found.

            EXAMPLES
              coffer audit find-key audit.log --key-file leaked.key --site-secret-file site.secret
              coffer audit find-key one.log two.log --id 93b1c5d2e7f80a46 --json
            """)

    static let title = "audit find-key"

    @Argument(help: "The logs.", completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "The identifier of the key, as 'coffer info --key-id' prints it.", valueName: "digits"))
    var id: String?

    @OptionGroup(title: "The key")
    var key: KeyOptions

    @OptionGroup(title: "The site secret")
    var site: SiteSecretOptions

    @OptionGroup(title: "The log secret")
    var secret: AuditKeyOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if let id {
            guard id.utf8.count == 16,
                id.utf8.allSatisfy({
                    UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
                })
            else { throw ValidationError("An identifier has 16 hexadecimal digits, in lower case.") }
            if try key.isGiven || site.isGiven {
                throw ValidationError("Give the identifier, or the key and the site secret.")
            }
        } else if try !site.isGiven {
            throw ValidationError(
                "Identifiers of keys depend on the site secret: give --site-secret-file, or the identifier "
                    + "with --id."
            )
        }
    }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings(files))])
        let wanted: String
        if let id {
            wanted = id
        } else {
            guard let site = try site.secret(session) else {
                throw Failure.usage("The site secret is missing.")
            }
            wanted = try site.id(
                of: session.keys.key(key.request(), subject: "the files to find"))
        }
        let seal = try secret.seal(session)
        var events: [KeyHistory.Event] = []
        for file in files { events += try KeyHistory.events(in: file, seal) }
        // Events of several machines are merged by time. The index keeps the order within one log.
        var history = KeyHistory()
        for event in events.enumerated().sorted(by: {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }) {
            history.take(event.element)
        }
        let found = history.files(openedBy: wanted)
        for file in found {
            session.reporter.result(
                [
                    .init("path", .string(file.path)), .init("certainty", .string(file.certainty.rawValue)),
                    .init("time", .string(file.time)), .init("last_command", .string(file.command)),
                ],
                text: ["\(file.path): \(file.certainty.words) (\(file.command), \(file.time))"],
                isAnswer: true)
        }
        session.reporter.note(
            "key \(wanted): \(TextLayout.grouped(found.count)) of "
                + "\(TextLayout.counted(history.fileCount, "file", "files")) in the log"
        )
        return found.isEmpty ? .done : .answerIsNo
    }
}

/// The key that opens each file, reconstructed from the sequence of audit records.
struct KeyHistory {
    /// The content of one record.
    struct Event {
        let time: String
        let command: String
        let path: String
        let isBegin: Bool
        let isSuccess: Bool
        /// True if the file was found to be plaintext.
        let isPlaintext: Bool
        let isChanged: Bool
        /// True if the record identifies any keys.
        let hasNames: Bool
        let id: String?
        let idBefore: String?
        let keptOldPath: String?
        /// The new file, if `path` is the folder in which it was created.
        let madePath: String?
    }

    struct File {
        enum Certainty: String {
            case opens
            /// An interrupted command may have given the file this key.
            case possible
            /// No record says which key opens it.
            case unknown

            var words: String {
                switch self {
                case .opens: "opens with the key"
                case .possible: "may open with the key: a command on it did not finish"
                case .unknown: "unknown: no command has opened it with the site secret"
                }
            }
        }

        let path: String
        let certainty: Certainty
        let time: String
        let command: String
    }

    private struct State {
        var id: String?
        var isNamed = false
        var time: String
        var command: String
        /// The key identifiers of a command that has begun and has no end record.
        var pending: [String] = []
    }

    private var states: [String: State] = [:]

    mutating func take(_ event: Event) {
        let path = event.madePath ?? event.path
        if event.madePath != nil { states[event.path] = nil }
        var state = states[path] ?? State(time: event.time, command: event.command)
        if event.isBegin {
            state.pending += [event.id, event.idBefore].compactMap { $0 }
            states[path] = state
            return
        }
        state.pending = []
        defer { states[path] = state }
        guard event.isSuccess else {
            if event.isPlaintext { (state.id, state.isNamed) = (nil, true) }
            return
        }
        if event.command == "erase" {
            state.id = nil
            state.isNamed = true
        } else if event.hasNames {
            state.id = event.id
            state.isNamed = true
        } else if event.isChanged, event.command.hasSuffix("rotate") {
            // The file has another key now, whose identifier is not recorded.
            state.id = nil
            state.isNamed = false
        }
        (state.time, state.command) = (event.time, event.command)
        if let kept = event.keptOldPath, let before = event.idBefore {
            states[kept] = State(id: before, isNamed: true, time: event.time, command: event.command)
        }
    }

    var fileCount: Int { states.count }

    func files(openedBy id: String) -> [File] {
        states.compactMap { path, state in
            let certainty: File.Certainty
            if state.pending.contains(id) || state.id == id {
                certainty = state.pending.isEmpty ? .opens : .possible
            } else if !state.isNamed {
                certainty = .unknown
            } else {
                return nil
            }
            return File(path: path, certainty: certainty, time: state.time, command: state.command)
        }.sorted { $0.path < $1.path }
    }

    /// Returns the events of a log after verifying its chain.
    static func events(in path: String, _ seal: AuditSeal) throws -> [Event] {
        let descriptor = try Descriptor.reading(path, name: "The audit log '\(path)'")
        var chain = AuditChain(seal: seal)
        var events: [Event] = []
        do {
            // The lock keeps a writer from being halfway through a record.
            try? descriptor.lock(LOCK_SH)
            try chain.add(linesOf: descriptor) { _, bytes in
                if let event = Event(bytes) { events.append(event) }
            }
        } catch let error as Errno {
            throw Failure(error, "The audit log '\(path)' cannot be read")
        }
        if let problem = chain.finding { throw Failure(problem, log: path) }
        return events
    }
}

extension KeyHistory.Event {
    /// Returns nil for a record that is not about a file.
    fileprivate init?(_ line: [UInt8]) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
            let event = object["event"] as? String,
            let path = object["path"] as? String, let command = object["command"] as? String,
            let time = object["time"] as? String
        else { return nil }
        // Versions that recorded no host kept links in paths.
        func known(_ path: String) -> String { object["host"] == nil ? FileNames.canonical(path) : path }
        (self.time, self.command, self.path) = (time, command, known(path))
        isBegin = event == "begin"
        isSuccess = object["code"] as? Int == 0
        isPlaintext = object["reason"] as? String == "plaintext"
        isChanged = object["changed"] as? Bool ?? false
        hasNames = object["site_key_id"] != nil
        id = object["site_key_id"] as? String
        idBefore = object["site_key_id_before"] as? String
        madePath = (object["destination"] as? String).map(known)
        keptOldPath = (object["kept_old"] as? String).map(known)
    }
}
