internal import Glibc

/// A process that another one has started, as `/proc` shows it.
struct ProcessFamily {
    private let id: pid_t
    private let parent: pid_t
    /// When it was started. Together with the number it is that of no other process.
    private let startTime: Substring
    private let isZombie: Bool

    /// Reads `/proc/<id>/stat`; nil where there is no such process.
    private init?(_ id: pid_t) {
        let file = unsafe open("/proc/\(id)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(file, &bytes, bytes.count)
        // The name of the program may have spaces and brackets in it, and ends with the last bracket.
        guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = String(decoding: bytes[(end + 1)..<count], as: UTF8.self).split(separator: " ")
        guard fields.count > 19, let parent = pid_t(fields[1]) else { return nil }
        self.id = id
        self.parent = parent
        isZombie = fields[0] == "Z"
        startTime = fields[19]
    }

    /// Stops a process and all that it has started, so that none of them starts another one meanwhile.
    ///
    /// - Returns: the processes below it.
    static func stopped(below id: pid_t) -> [ProcessFamily] {
        kill(id, SIGSTOP)
        var members: [ProcessFamily] = []
        // One that was forked before its parent was stopped is found in the next round. One of another user
        // may not be stopped.
        for _ in 0..<100 {
            let parents = Set([id] + members.map(\.id))
            let known = Set(members.map(\.id))
            let new = all().filter {
                parents.contains($0.parent) && !known.contains($0.id) && !$0.isZombie
            }
            guard !new.isEmpty else { return members }
            for process in new { kill(process.id, SIGSTOP) }
            members += new
        }
        return members
    }

    private static func all() -> [ProcessFamily] {
        guard let folder = unsafe opendir("/proc") else { return [] }
        defer { unsafe closedir(folder) }
        var processes: [ProcessFamily] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let id = pid_t(name), let process = ProcessFamily(id) { processes.append(process) }
        }
        return processes
    }

    /// Whether the process runs, or could.
    var isAlive: Bool {
        guard let now = ProcessFamily(id) else { return false }
        return now.startTime == startTime && !now.isZombie
    }

    func send(_ signals: [CInt]) {
        guard isAlive else { return }
        for signal in signals { kill(id, signal) }
    }
}
