import Testing

@testable import Coffer

@Suite("A deadline")
struct DeadlineTests {
    @Test(
        "is over at once if the time is not positive, and not yet if the time is very long",
        arguments: [0, -1, -Double.infinity])
    func ends(time: Double) {
        #expect(Deadline(after: time).isOver)
        #expect(!Deadline(after: 1e9).isOver && !Deadline(after: .infinity).isOver)
    }
}
