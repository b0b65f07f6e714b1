import Testing

@testable import CofferCLI

@Suite("The progress meter")
struct ProgressMeterTests {
    private let start = ContinuousClock.now

    private func state(_ path: String, _ phase: String, _ completed: Int64, _ total: Int64 = 100)
        -> ProgressState
    {
        ProgressState(path: path, phase: phase, completed: completed, total: total, unit: "pages")
    }

    @Test("the phases of one file form one progress value, with a rate and the remaining time")
    func phases() {
        var meter = ProgressMeter()
        var last = 0.0
        var second = 0
        for phase in ["copying", "verifying", "checking structure", "publishing"] {
            for completed in stride(from: Int64(0), through: 100, by: 20) {
                let shown = meter.take(state("a.db", phase, completed), at: start + .seconds(second))
                #expect((shown.overall ?? -1) >= last && (shown.overall ?? 2) <= 1)
                last = shown.overall ?? 0
                if completed > 0 { #expect(shown.rate == 20) }
                if completed > 0, second > 1 {
                    let left = Double(second) * (1 - last) / last
                    #expect(abs((shown.secondsLeft ?? -1) - left) < 0.001)
                }
                second += 1
            }
        }
        #expect(last == 1)
    }

    @Test("a batch has one progress value, weighted by file sizes, in any order of phases and files")
    func batch() {
        var meter = ProgressMeter()
        var values: [Double] = []
        func note(_ state: ProgressState?) { if let value = state?.overall { values.append(value) } }
        note(meter.take(.phase("trying keys", files: 3, through: 0, start: 0), at: start))
        for path in ["a", "b", "c"] {
            note(meter.take(.began(path, share: 0.1 / 3), at: start))
            note(meter.take(.ended(path), at: start + .seconds(1)))
        }
        // One of the files has failed.
        note(meter.take(.phase("batch rotate", files: 3, through: 1, start: 0.1), at: start + .seconds(1)))
        note(meter.take(.began("a", share: 0.8), at: start + .seconds(1)))
        note(meter.take(.began("b", share: 0.1), at: start + .seconds(1)))
        let half = meter.take(state("a", "copying", 100), at: start + .seconds(5))
        note(half)
        // The bar shows the batch, and includes the progress within its files.
        #expect(half.path == "batch" && half.completed == 1 && half.total == 3 && half.unit == "files")
        #expect(abs((half.overall ?? 0) - 0.54) < 0.001)
        note(meter.take(state("b", "copying", 10), at: start + .seconds(5)))
        note(meter.take(.ended("b"), at: start + .seconds(6)))
        note(meter.take(state("a", "verifying", 0), at: start + .seconds(6)))
        let end = meter.take(.ended("a"), at: start + .seconds(10))
        note(end)
        #expect(end?.completed == 3 && abs((end?.overall ?? 0) - 1) < 0.001)
        #expect(values == values.sorted())
        #expect(end?.secondsLeft ?? 1 < 0.1)
    }

    @Test(
        "the bar fits its terminal, and says how long it takes where there is room",
        arguments: [20, 40, 80, 200])
    func bar(width: Int) {
        var state = state("a long name of a database.db", "verifying", 50)
        state.overall = 0.45
        state.rate = 1234.5
        state.secondsLeft = 75
        let bar = state.bar(width: width)
        #expect(TextLayout.columns(bar) < width)
        #expect(bar.contains("45%"))
        #expect(bar.contains("1,234 pages/s  1 min 15 s left") == (width > 80), "\(bar)")
        #expect(state.line.hasSuffix("(45%), 1,234 pages/s, 1 min 15 s left"))
    }

    @Test("a log gets at most one line in ten seconds, for all files together")
    func lines() {
        var throttle = ProgressThrottle(patience: .seconds(10), interval: .seconds(10), isForLog: true)
        let shown = (0..<100).filter { second in
            throttle.shouldShow(
                state("\(second).db", "verifying", Int64(second)), at: start + .seconds(second))
        }
        #expect(shown == [10, 20, 30, 40, 50, 60, 70, 80, 90])
    }
}
