import Testing

@testable import Coffer

@Suite("The steps of a replacement")
struct ReplacementStateTests {
    /// Goes through the steps, with a failure at one of them, and tells what was done.
    private func run(failingAt failing: ReplacementState.Step?, newContent: Bool? = nil) -> (
        trace: [String], outcome: ReplacementState.Outcome
    ) {
        var state = ReplacementState()
        var trace: [String] = []
        while true {
            switch state.decision {
            case .perform(let step):
                trace.append(step.rawValue)
                if step == failing {
                    state.didFail()
                } else if step == .recover, let newContent {
                    state.didFindNewContent(leftovers: newContent)
                } else {
                    state.didComplete()
                }
            case .undo(let undo):
                trace.append(undo.rawValue)
                state.didUndo()
            case .end(let outcome):
                return (trace, outcome)
            }
        }
    }

    @Test("all steps come in their order")
    func order() {
        let result = run(failingAt: nil)
        #expect(result.trace == ReplacementState.Step.allCases.map(\.rawValue))
        #expect(result.outcome == .replaced)
    }

    @Test("before the copy is in place a failure takes everything back, afterwards nothing", arguments: ReplacementState.Step.allCases)
    func failure(step: ReplacementState.Step) {
        let result = run(failingAt: step)
        let undone = Array(result.trace.drop { $0 != step.rawValue }.dropFirst())
        switch step {
        case .preflight, .recover:
            #expect(undone.isEmpty)
            #expect(result.outcome == .abandoned)
        case .note:
            #expect(undone == ["release", "removeNote"])
            #expect(result.outcome == .abandoned)
        case .quiesce, .copy, .verify, .synchronize, .publish:
            #expect(undone == ["removeCopy", "release", "removeNote"])
            #expect(result.outcome == .abandoned)
        case .persist, .reopen, .finish:
            #expect(undone.isEmpty)
            #expect(result.outcome == .unfinished(step))
        }
    }

    @Test("a file with its new content is left alone, but for leftovers")
    func alreadyDone() {
        #expect(run(failingAt: nil, newContent: false).trace == ["preflight", "recover"])
        #expect(run(failingAt: nil, newContent: false).outcome == .alreadyDone)
        #expect(run(failingAt: nil, newContent: true).trace == ["preflight", "recover", "note", "reopen", "finish"])
        #expect(run(failingAt: nil, newContent: true).outcome == .alreadyDone)
        #expect(run(failingAt: .reopen, newContent: true).outcome == .unfinished(.reopen))
    }

    @Test("nothing that was not asked for changes the state")
    func misplacedCalls() {
        var state = ReplacementState()
        state.didUndo()
        #expect(state.decision == .perform(.preflight))
        state.didFindNewContent(leftovers: true)
        #expect(state.decision == .perform(.preflight))
        state.didFail()
        state.didComplete()
        state.didFail()
        #expect(state.decision == .end(.abandoned))
    }
}
