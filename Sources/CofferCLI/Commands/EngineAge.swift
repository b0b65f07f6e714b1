internal import Foundation
internal import SQLCipherBridge

/// What is known of an engine by its version and its age, without any network.
struct EngineAge {
    /// A fault of versions of SQLite, for `coffer doctor`. It names those that concern what Coffer's users
    /// do, and is as old as this program.
    struct Fault {
        let name: String

        /// The first version that has it, and the first that does not, as `sqlite3_libversion_number` gives
        /// them.
        let versions: Range<Int>
        let words: String
    }

    static let faults = [
        Fault(
            name: "WAL reset", versions: 3_007_000..<3_051_003,
            words:
                "two connections that write or checkpoint at the same instant may, very rarely, damage a "
                + "database in WAL mode"
        ),
        Fault(
            name: "CVE-2025-6965", versions: 0..<3_050_002,
            words:
                "SQL with more aggregates than columns may write outside of its memory: matters where SQL "
                + "comes from others"
        ),
        Fault(
            name: "CVE-2025-29087", versions: 3_044_000..<3_049_001,
            words:
                "concat_ws with a huge separator may write outside of its memory: matters where SQL comes "
                + "from others"
        ),
    ]

    let version: Int

    /// The day of its release, as in 2024-08-13.
    let released: String
    let isOwn: Bool
    let now: Date

    static var ofThisProgram: EngineAge {
        EngineAge(
            version: Int(Engine.sqliteVersionNumber), released: Engine.releaseDay,
            isOwn: Engine.ownDescription != nil, now: Date())
    }

    var findings: [Finding] {
        let faults = EngineAge.faults.filter { $0.versions.contains(version) }.map { fault in
            Finding(
                check: "engine fault", words: "\(fault.name): \(fault.words)", advice: advice, isWarning: true
            )
        }
        return faults + (age.map { [$0] } ?? [])
    }

    /// A warning about an engine of more than a year.
    private var age: Finding? {
        guard let day = try? Date(released + "T00:00:00Z", strategy: .iso8601) else {
            return Finding(
                check: "engine age", words: "not known: its release is '\(released)'", advice: advice,
                isWarning: true)
        }
        guard now.timeIntervalSince(day) > 366 * 86400 else { return nil }
        return Finding(
            check: "engine age", words: "more than a year: SQLite of \(released)", advice: advice,
            isWarning: true)
    }

    private var advice: String {
        isOwn
            ? "Run Scripts/build-engine with a newer source (--source), and build the program again."
            : "The distribution may have mended it: see the changelog of libsqlcipher-dev. Or give "
                + "Scripts/build-engine a newer source, and build the program again."
    }
}
