import Coffer
import CofferTestSupport
import Foundation
import Synchronization

/// Measures the effect of key rotations on concurrent users of the database.
enum StressWork {
    private struct Tally {
        var (transfers, reads, values) = (0, 0, 0)
        /// In seconds.
        var (longestWrite, longestRead) = (0.0, 0.0)
        var failures: [String] = []
    }

    /// `stress PATH KEY KEY COUNT MEGABYTES [paced]`: Makes a file of this size and rotates its key back and
    /// forth while four threads transfer money, eight read, and one value is observed. The threads rest
    /// briefly between accesses. With `paced`, there are at most 1,000 transfers and 1,000 reads a second.
    ///
    /// Prints each pause, each duration, and the end times of the phases and rounds. At the end it prints the
    /// totals and longest waits of the other threads, and the speeds of two rotations of the unused file.
    /// Exits with 1 if any of them has failed or anything is missing.
    static func stress(_ arguments: [String]) throws {
        let (path, count, megabytes) = (arguments[0], Int(arguments[3]) ?? 1, Int(arguments[4]) ?? 1)
        let isPaced = arguments.count > 5 && arguments[5] == "paced"
        var configuration = RotationWork.configuration(arguments[1])
        configuration.busyMode = .timeout(Patience.seconds)
        configuration.maximumReaderCount = 8
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            try Bank.open(db)
            try db.execute(
                sql: """
                    CREATE TABLE ballast (id INTEGER PRIMARY KEY, bytes);
                    CREATE TABLE place (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, bytes);
                    WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 20000)
                    INSERT INTO place SELECT i, 0, randomblob(400) FROM c;
                    """)
        }
        for _ in 0..<megabytes {
            try pool.write { db in
                for _ in 0..<16 {
                    try db.execute(sql: "INSERT INTO ballast (bytes) VALUES (randomblob(65000))")
                }
            }
        }
        let tally = Mutex(Tally())
        let isOver = Atomic<Bool>(false)
        let observation = ValueObservation.tracking {
            // Not the number of transfers, because counting them takes longer and longer.
            try Int.fetchOne($0, sql: "SELECT MAX(seq) FROM transfer") ?? 0
        }
        let observer = observation.start(
            in: pool, scheduling: .async(onQueue: DispatchQueue(label: "values")),
            onError: { error in tally.withLock { $0.failures.append("observer: \(error)") } },
            onChange: { _ in tally.withLock { $0.values += 1 } })
        let group = DispatchGroup()
        func run(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
            group.enter()
            Thread.detachNewThread {
                do {
                    while !isOver.load(ordering: .relaxed) { try body() }
                } catch {
                    tally.withLock { $0.failures.append("\(name): \(error)") }
                }
                group.leave()
            }
        }
        for teller in 1...4 {
            run("teller \(teller)") {
                let start = ContinuousClock.now
                try pool.write { db in
                    try Bank.transfer(
                        db, teller: teller, number: try Bank.lastNumber(db, teller: teller) + 1, noteSize: 500
                    )
                    try db.execute(sql: "UPDATE place SET n = n + 1 WHERE id = abs(random()) % 20000")
                }
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                tally.withLock { tally in
                    tally.transfers += 1
                    tally.longestWrite = max(tally.longestWrite, seconds)
                }
                rest(isPaced ? 4000 : nil, since: start, else: 1000)
            }
        }
        for reader in 1...8 {
            run("reader \(reader)") {
                let start = ContinuousClock.now
                try pool.read { try Bank.glance($0) }
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                tally.withLock { tally in
                    tally.reads += 1
                    tally.longestRead = max(tally.longestRead, seconds)
                }
                rest(isPaced ? 8000 : nil, since: start, else: 2000)
            }
        }
        let before = try memoryAtWork(forSeconds: max(1, megabytes / 16))
        var options = DatabaseFile.RotationOptions()
        // These writers produce 25 MB of WAL a second.
        options.whileInUse = DatabaseFile.WhileInUse(maximumLogSize: 16 << 30)
        var pauses: [Double] = []
        let transfersBefore = tally.withLock { $0.transfers }
        let start = ContinuousClock.now
        for number in 0..<count {
            var phases = RotationWork.PhaseEnds()
            let result = try pool.rotateKey(
                to: RotationWork.key(arguments[number % 2 == 0 ? 2 : 1]), options: options
            ) { phases.note($0) }
            pauses.append(1000 * (result.pause ?? 0))
            print(
                String(
                    format: "pause %.1f ms, duration %.2f s, %.0f MB a second:",
                    1000 * (result.pause ?? 0), result.duration, try speed(of: result, path)),
                phases.text)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let transfers = tally.withLock { $0.transfers } - transfersBefore
        pauses.sort()
        print(
            String(
                format: "pauses in ms: median %.1f, greatest %.1f; %.0f transactions a second",
                pauses[pauses.count / 2], pauses[pauses.count - 1], Double(transfers) / seconds))
        isOver.store(true, ordering: .relaxed)
        group.wait()
        observer.cancel()
        let after = try RotationWork.peakMemory()
        try pool.read { try Bank.audit($0) }
        let written = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM transfer") ?? 0 }
        for number in count..<count + 2 {
            var phases = RotationWork.PhaseEnds()
            let result = try pool.rotateKey(to: RotationWork.key(arguments[number % 2 == 0 ? 2 : 1])) {
                phases.note($0)
            }
            print(
                String(
                    format: "not in use, duration %.2f s, %.0f MB a second:", result.duration,
                    try speed(of: result, path)), phases.text)
        }
        try pool.close()
        let end = tally.withLock { $0 }
        print(
            String(
                format: "longest write %.1f ms, longest read %.1f ms", 1000 * end.longestWrite,
                1000 * end.longestRead),
            "\(end.transfers) transfers, \(end.reads) reads, \(end.values) values, \(after - before) KiB more"
        )
        for failure in end.failures { print(failure) }
        guard end.failures.isEmpty, written == end.transfers, end.values > 0, after - before < 64 << 10 else {
            exit(1)
        }
    }

    /// Returns the speed in megabytes a second.
    private static func speed(of result: DatabaseFile.RotationResult, _ path: String) throws -> Double {
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        return Double(size) / 1e6 / result.duration
    }

    /// Sleeps until `wholeTime` microseconds after the start, or for `time` microseconds if it is nil.
    private static func rest(_ wholeTime: Int?, since start: ContinuousClock.Instant, else time: UInt32) {
        guard let wholeTime else {
            usleep(time)
            return
        }
        let used = Int((ContinuousClock.now - start) / .microseconds(1))
        if used < wholeTime { usleep(UInt32(wholeTime - used)) }
    }

    /// Returns the memory that the readers and writers need by themselves, in KiB: the peak once it has not
    /// grown for five seconds, or after `longest` seconds. Their page caches grow with the amount of data
    /// written.
    private static func memoryAtWork(forSeconds longest: Int) throws -> Int {
        var memory = 0
        for _ in stride(from: 0, to: longest, by: 5) {
            sleep(5)
            let now = try RotationWork.peakMemory()
            if now - memory < 1024 { return now }
            memory = now
        }
        return memory
    }
}
