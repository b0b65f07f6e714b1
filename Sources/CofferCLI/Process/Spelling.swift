/// Suggests corrections for misspelled words.
enum Spelling {
    /// Returns the nearest word within at most two insertions, deletions, substitutions or transpositions. If
    /// there is none, returns the only word that begins with `word`.
    static func nearest(to word: String, among words: [String]) -> String? {
        let distances = words.map { ($0, distance(Array(word), Array($0))) }
        let limit = word.count > 4 ? 2 : word.count > 2 ? 1 : 0
        if let best = distances.filter({ $0.1 <= limit }).min(by: { $0.1 < $1.1 }) { return best.0 }
        let longer = words.filter { word.count > 1 && $0.hasPrefix(word) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// Returns a message of the parser without its guess at an unknown option, unless the guess is near:
    /// others may mean the opposite.
    static func withoutFarGuess(_ message: String) -> String {
        let guess = #/Unknown option '--(?<word>[^']+)'(?<words>\. Did you mean '--(?<name>[^']+)'\?)/#
        guard let match = message.firstMatch(of: guess),
            nearest(to: String(match.word), among: [String(match.name)]) == nil
        else { return message }
        return message.replacing(match.words, with: ".")
    }

    /// The commands, with options, that other tools call by other names.
    static let synonyms: [String: String] = [
        "verify": ["check", "fsck", "integrity", "scrub", "test", "validate"],
        "recover": ["fix", "repair", "salvage"],
        "rotate": ["change-key", "reencrypt", "rekey"],
        "key change": ["change-passphrase", "passphrase", "passwd", "password"],
        "key list": ["slots", "users"],
        "key add": ["add-key", "adduser"],
        "key remove": ["deluser", "revoke"],
        "keygen": ["generate", "genkey", "newkey"],
        "query": ["eval", "exec", "execute", "run", "select", "sql"],
        "query --format csv": ["csv", "export"],
        "dump": ["cat", "export-sql"],
        "schema": ["ddl", "describe"],
        "schema --tables": ["ls", "tables"],
        "shell": ["cli", "console", "open", "repl"],
        "info": ["identify", "inspect", "show", "stat", "stats", "status"],
        "vacuum": ["compact", "defrag", "optimize", "shrink"],
        "backup": ["archive", "clone", "copy", "cp", "save", "snapshot"],
        "backup --list": ["backups", "history", "list", "snapshots"],
        "backup --into FOLDER --keep 7d,4w": ["forget", "prune", "retention"],
        "restore": ["rollback", "undo"],
        "create": ["init", "make", "new"],
        "diff": ["cmp", "compare"],
        "upgrade": ["convert", "migrate"],
        "erase": ["delete", "destroy", "remove", "rm", "shred", "wipe"],
        "encrypt": ["lock"],
        "decrypt": ["unencrypt", "unlock"],
        "--version": ["version"],
        "completion bash > ~/.local/share/bash-completion/completions/coffer": [
            "completion", "completions",
        ],
        "help": ["usage"],
        "help man": ["man", "manual"],
    ].reduce(into: [:]) { synonyms, entry in
        for word in entry.value { synonyms[word] = entry.key }
    }

    /// Returns the number of insertions, deletions, substitutions and transpositions of neighbors between two
    /// words.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var rows = [Array(0...other.count)]
        for i in 0..<one.count {
            var row = [i + 1]
            for j in 0..<other.count {
                var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (one[i] == other[j] ? 0 : 1))
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    cost = min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
