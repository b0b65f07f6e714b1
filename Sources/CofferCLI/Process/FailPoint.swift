#if DEBUG
internal import Foundation
#endif

/// Where tests make the tool itself fail, as no input is known to: `COFFER_FAIL_POINT=tool`. Compiled out of release builds.
enum FailPoint {
    #if DEBUG
    private struct Inconsistency: Error {}

    static func pass() throws {
        if ProcessInfo.processInfo.environment["COFFER_FAIL_POINT"] == "tool" { throw Inconsistency() }
    }
    #else
    @inline(__always)
    static func pass() throws {}
    #endif
}
