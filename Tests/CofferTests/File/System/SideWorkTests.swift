import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Work on two threads")
struct SideWorkTests {
    private struct Failure: Error, Equatable {
        var name: String
    }

    @Test("both pieces of work run, and their values are returned")
    func values() throws {
        let (main, side) = try SideWork<Int>.run(side: { _ in 1 }, main: { side in try side.value {} + 1 })
        #expect(main == 2 && side == 1)
    }

    @Test("the error of the main work is thrown once the other one, which is asked to stop, has ended")
    func mainFails() throws {
        let ended = Mutex(false)
        let begun = DispatchSemaphore(value: 0)
        #expect(throws: Failure(name: "main")) {
            _ = try SideWork<Void>.run(
                side: { signal in
                    begun.signal()
                    while !signal.isSet {}
                    ended.withLock { $0 = true }
                    throw Failure(name: "side")
                },
                main: { _ in
                    begun.wait()
                    throw Failure(name: "main")
                })
        }
        #expect(ended.withLock { $0 })
    }

    @Test("a work that was never started releases its captures when the other one fails")
    func neverBegun() throws {
        final class Held: Sendable {}
        for _ in 0..<100 {
            weak var held: Held?
            #expect(throws: Failure(name: "main")) {
                let object = Held()
                held = object
                _ = try SideWork<Void>.run(
                    side: { [object] _ in withExtendedLifetime(object) {} },
                    main: { _ in throw Failure(name: "main") })
            }
            #expect(held == nil)
        }
    }

    @Test("the error of the other work is thrown, and the function called while waiting can end it")
    func sideFails() {
        #expect(throws: Failure(name: "side")) {
            _ = try SideWork<Void>.run(side: { _ in throw Failure(name: "side") }, main: { try $0.value {} })
        }
        let begun = DispatchSemaphore(value: 0)
        #expect(throws: Failure(name: "waiting")) {
            _ = try SideWork<Void>.run(
                side: { signal in
                    begun.signal()
                    while !signal.isSet {}
                },
                main: { side in
                    begun.wait()
                    try side.value { throw Failure(name: "waiting") }
                })
        }
    }
}
