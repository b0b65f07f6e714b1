import Coffer
import CofferTestSupport
import Dispatch

/// Measures the cost of connections apart from key derivation: `CofferTestWorker cost`.
enum Cost {
    static func run() throws {
        try withTestDirectory { directory in
            _ = try directory.makePool("a.db", .passphrase())
            _ = try directory.makePool("b.db", .rawKeyed)
            var derivations: [Duration] = []
            var pools: [Duration] = []
            for _ in 0..<15 {
                // A queue with a passphrase needs one derivation more than one with a raw key.
                let clock = ContinuousClock()
                let queue = try clock.measure { _ = try directory.makeQueue("a.db", .passphrase()) }
                let rawKeyed = try clock.measure { _ = try directory.makeQueue("b.db", .rawKeyed) }
                derivations.append(queue - rawKeyed)
                pools.append(
                    try clock.measure {
                        try readFiveTimesAtOnce(try directory.makePool("a.db", .passphrase()))
                    })
            }
            let derivation = derivations.sorted()[derivations.count / 2]
            let pool = pools.sorted()[pools.count / 2]
            print(
                "a derivation: \(derivation), a pool with five readers: \(pool), ratio \(pool / derivation)")
        }
    }

    /// Makes a pool open its writer and five readers.
    private static func readFiveTimesAtOnce(_ pool: DatabasePool) throws {
        let arrived = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        for _ in 0..<5 {
            group.enter()
            pool.asyncRead { result in
                if case .failure(let error) = result { print(error) }
                arrived.signal()
                mayEnd.wait()
                group.leave()
            }
        }
        for _ in 0..<5 { arrived.wait() }
        for _ in 0..<5 { mayEnd.signal() }
        group.wait()
    }
}
