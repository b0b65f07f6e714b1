internal import Glibc
internal import SystemCalls

/// A descendant of a process, according to `/proc`.
struct ProcessFamily {
    private let id: pid_t
    private let parent: pid_t
    /// The start time. Together with the ID, it identifies a process uniquely.
    private let startTime: Substring
    private let isZombie: Bool

    /// Reads `/proc/<id>/stat`. Returns nil if there is no such process.
    private init?(_ id: pid_t) {
        // The program name may contain spaces and brackets. It ends at the last bracket.
        guard let file = try? Descriptor(opening: "/proc/\(id)/stat", O_RDONLY),
            let bytes = try? Descriptor.read(from: file.number, upTo: 4096),
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).split(separator: " ")
        guard fields.count > 19, let parent = pid_t(fields[1]) else { return nil }
        self.id = id
        self.parent = parent
        isZombie = fields[0] == "Z"
        startTime = fields[19]
    }

    /// Stops a process and its descendants, so that none of them can start another one.
    ///
    /// - Returns: the descendants.
    static func stopped(below id: pid_t) -> [ProcessFamily] {
        kill(id, SIGSTOP)
        var members: [ProcessFamily] = []
        // A process that was forked before its parent was stopped is found in the next round. A process of
        // another user may not be stoppable.
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
        let names = (try? Folder.names(in: "/proc")) ?? []
        return names.compactMap { pid_t(String(decoding: $0, as: UTF8.self)).flatMap(ProcessFamily.init) }
    }

    /// True if the process still exists and is not a zombie.
    var isAlive: Bool {
        guard let now = ProcessFamily(id) else { return false }
        return now.startTime == startTime && !now.isZombie
    }

    func send(_ signals: [CInt]) {
        guard isAlive else { return }
        for signal in signals { kill(id, signal) }
    }
}
