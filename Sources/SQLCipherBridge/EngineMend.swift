#if DEBUG
internal import Glibc
#endif

/// The workarounds of this library for bugs in the engine.
package enum EngineMend: CaseIterable, Sendable {
    /// Writes the WAL checksums that the engine omits (``LogSealing``).
    case logChecksums
    /// Rejects statements that would store a wrong value in a column (``EngineProgram``).
    case storedColumns
    /// Rejects statements that would miss a NULL of a subquery (``EngineProgram``).
    case descendingNotIn
    /// Turns off the optimization of `SELECT COUNT(*)` on views.
    case countOfView
    /// Rolls back the savepoint or the transaction after a type error in a `STRICT` table.
    case typeErrors
    /// Makes a connection that leaves WAL mode read its pages again (``StaleCacheCalls``).
    case staleCache

    /// The first version of SQLite without the bug, as in 3050002 for 3.50.2; the maximum if no version is
    /// known.
    package var mendedIn: CInt {
        switch self {
        case .logChecksums: 3_050_002
        case .storedColumns, .countOfView: 3_049_002
        case .typeErrors, .descendingNotIn: 3_054_000
        case .staleCache: .max
        }
    }

    /// True if the engine of this program has the bug, according to its version.
    package var isNeeded: Bool { Engine.sqliteVersionNumber < mendedIn }

    /// True if the workaround is active.
    package var isOn: Bool { isNeeded && EngineMend.areOn }

    #if DEBUG
    /// `COFFER_ENGINE_FAULT_MENDS=off` disables the workarounds, for tests that must fail without them.
    private static let areOn =
        unsafe getenv("COFFER_ENGINE_FAULT_MENDS").map { unsafe String(cString: $0) } != "off"
    #else
    private static let areOn = true
    #endif
}
