internal import Coffer
internal import Foundation
internal import SQLCipherBridge

/// The facts that the engine's version and age give, without network access.
struct EngineAge {
    /// The version number in the format of `sqlite3_libversion_number`.
    let version: Int

    /// The day of its release, for example 2024-08-13.
    let released: String
    let isOwn: Bool
    let now: Date

    static var ofThisProgram: EngineAge {
        EngineAge(
            version: Int(Engine.sqliteVersionNumber), released: Engine.releaseDay,
            isOwn: Engine.ownDescription != nil, now: Date())
    }

    var findings: [Finding] {
        let faults = EngineFault.allCases.filter { $0.isOfEngine(sqlite: version) && $0.treatment == .open }
            .map {
                Finding(
                    "engine fault", "\($0.rawValue): \($0.summary) (fixed in \($0.mendedIn))", advice: advice,
                    isWarning: true)
            }
        return faults + (age.map { [$0] } ?? [])
    }

    /// A warning about an engine that is more than a year old.
    private var age: Finding? {
        guard let day = try? Date(released + "T00:00:00Z", strategy: .iso8601) else {
            return Finding(
                "engine age", "unknown: its release is '\(released)'", advice: advice, isWarning: true)
        }
        guard now.timeIntervalSince(day) > 366 * 86400 else { return nil }
        return Finding(
            "engine age", "more than a year: SQLite of \(released)", advice: advice, isWarning: true)
    }

    private var advice: String {
        isOwn
            ? "Run Scripts/build-engine of Coffer with a newer engine (--source), and rebuild the program."
            : "The distribution may have fixed it: see the changelog of libsqlcipher-dev. Or give "
                + "Scripts/build-engine of Coffer a newer engine, and rebuild the program."
    }
}
