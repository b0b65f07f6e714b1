import Foundation
import Testing

/// Verifies that the sanitizer reports races: see `Scripts/check-threads`.
@Suite("A race on purpose")
struct RaceOnPurposeTests {
    // @unchecked: wrong, on purpose.
    private final class Counter: @unchecked Sendable {
        var count = 0
    }

    @Test("two threads change a variable at the same time")
    func race() throws {
        let counter = Counter()
        let jobs = (0..<2).map { _ in Job { for _ in 0..<3_000_000 { counter.count += 1 } } }
        for job in jobs { try job.value() }
        #expect(counter.count > 0)
    }
}
