internal import Foundation

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
        var events: [Event] = []
        _ = try AuditChain(log: path, seal: seal) { _, bytes in
            if let event = Event(bytes) { events.append(event) }
        }
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
