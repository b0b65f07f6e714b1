import Testing

@testable import CofferCLI

@Suite("The summary of a batch")
struct BatchTallyTests {
    @Test("counts the failed files whose work is done but not recorded")
    func unrecorded() {
        var tally = BatchTally()
        tally.addDone(.init(), size: 10)
        let failure = Failure(.inputOutput, "disk_full", "The state cannot be written.")
        tally.add(failure, path: "a.db")
        #expect(!tally.lines(of: 3).joined().contains("record"))
        tally.add(failure.after(.all), path: "b.db")
        #expect(tally.unrecorded == 0 && !tally.isStateLost)
        tally.noteLostState(isDone: true)
        #expect(tally.unrecorded == 1 && tally.isStateLost && tally.failed == 2)
        #expect(tally.lines(of: 3).joined().contains("1 of the failed"))
    }
}
