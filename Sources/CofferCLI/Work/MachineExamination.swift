internal import Coffer
internal import Glibc
internal import SystemCalls

/// Examines the machine that this process runs on.
enum MachineExamination {
    static func findings() throws -> [Finding] {
        try [engine()] + EngineAge.ofThisProgram.findings + [entropy(), lockedMemory(), coreDumps()]
    }

    private static func engine() throws -> Finding {
        let versions = try EngineVersions()
        return Finding(
            "engine", (versions.lines + [versions.origin, versions.pages.words]).joined(separator: ", "))
    }

    private static func entropy() -> Finding {
        // The nonblocking read returns nothing until the generator is ready.
        let byte = try? Descriptor(opening: "/dev/random", O_RDONLY | O_NONBLOCK).readAll(upTo: 1)
        guard byte?.count == 1 else {
            return Finding(
                "entropy", "the system's random generator is not ready",
                advice: "Wait until the machine has started, or give it a source of randomness (virtio-rng).")
        }
        return Finding("entropy", "the system's random generator is ready")
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
            let pools = TextLayout.counted(count, "pool")
            words += ", enough for the keys of about \(pools) of one process"
        }
        let isEnough = unlocked == 0 && (limit.rlim_cur >= 64 * 1024 || isUnlimited)
        return Finding(
            "locked memory", words,
            advice: isEnough
                ? nil
                : "Keys may be written to the swap space. Raise the limit: 'ulimit -l', or LimitMEMLOCK= in "
                    + "a unit.")
    }

    /// Reports the core dump limit of the parent process. Coffer never dumps core, but other programs that
    /// hold keys do if they are started with the same limits.
    private static func coreDumps() -> Finding {
        let text = KernelText.read("/proc/\(getppid())/limits") ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        guard let soft = line?.dropFirst("Max core file size".count).split(separator: " ").first else {
            return Finding("core dumps", "coffer writes none; the limit of other programs is unknown")
        }
        guard soft != "0" else { return Finding("core dumps", "off") }
        return Finding(
            "core dumps",
            "coffer writes none, but programs started from here do, with the keys in their memory",
            advice: "Turn them off for programs that use keys: 'ulimit -c 0', or LimitCORE=0 in a unit.")
    }
}
