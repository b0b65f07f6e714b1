#if DEBUG
internal import Glibc
#endif

/// Faults of engines that this library mends or meets, by what it does about them.
package enum EngineMend: CaseIterable, Sendable {
    /// Checksums of a log that the engine leaves out are written (``LogSealing``).
    case logChecksums
    /// Statements that would store another value than that of a column are refused (``StoredColumnFault``).
    case storedColumns
    /// The optimization of `SELECT COUNT(*)` of views is off.
    case countOfView

    /// The first version of SQLite without the fault, as in 3050002 for 3.50.2.
    package var mendedIn: CInt {
        switch self {
        case .logChecksums: 3_050_002
        case .storedColumns, .countOfView: 3_049_002
        }
    }

    /// Whether the engine of this program has the fault, by its version.
    package var isNeeded: Bool { Engine.sqliteVersionNumber < mendedIn }

    /// Whether it is done.
    package var isOn: Bool { isNeeded && EngineMend.areOn }

    #if DEBUG
    /// `COFFER_ENGINE_FAULT_MENDS=off` shows what the engine does by itself, to tests that must fail then.
    private static let areOn =
        unsafe getenv("COFFER_ENGINE_FAULT_MENDS").map { unsafe String(cString: $0) } != "off"
    #else
    private static let areOn = true
    #endif
}
