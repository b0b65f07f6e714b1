import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The cost of a passphrase slot", .serialized)
struct PassphraseCostTests {
    let fixture: KeyringFixture
    private let anna = KeyringFixture.anna

    init() throws { fixture = try KeyringFixture() }

    private func costs() throws -> [Int?] {
        try fixture.keyring.inspect().slots.map { $0.passphraseCost?.logarithm }
    }

    @Test("is 2^17 steps, also on a machine that is busy when the slot is made")
    func standard() async throws {
        // More busy threads than processors.
        let isOver = Flag()
        for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount {
            Thread.detachNewThread { while !isOver.isSet {} }
        }
        defer { isOver.set() }
        try fixture.keyring.make([.secret(.passphrase("correct horse")), .secret(anna)])
        #expect(try costs() == [17, nil])
        let cost = try #require(try fixture.keyring.inspect().slots[0].passphraseCost)
        #expect(cost == .standard && cost.memory == 128 << 20 && !cost.isBelowStandard)
    }

    @Test("is the requested one, is shown by an inspection, and is not needed to open the slot")
    func asked() throws {
        let cheap = DatabaseKeyring.PassphraseCost(logarithm: 12)
        try fixture.make([.secret(.passphrase("correct horse", cost: cheap), name: "Ben")])
        #expect(try costs() == [nil, 12])
        #expect(try fixture.keyring.inspect().slots[1].passphraseCost?.isBelowStandard == true)
        // The secret that opens a slot does not need the cost.
        #expect(try fixture.items(.passphrase("correct horse")) == ["letter", "photo"])
        // Other changes of the keyring keep the cost. A new secret for the slot has the standard cost.
        try fixture.keyring.remove(slot: 1, unlockedBy: .passphrase("correct horse"))
        #expect(try costs() == [12])
        try fixture.keyring.change(
            to: .passphrase(Array("another horse".utf8)), unlockedBy: .passphrase("correct horse"))
        #expect(try costs() == [17])
    }

    @Test("is measured between the cost that is asked for and the standard cost, and never above or below")
    func measured() {
        let least = PassphraseStretching.Cost(logarithm: 10)
        #expect(PassphraseStretching.calibrated(from: least, to: .zero) == least)
        #expect(PassphraseStretching.calibrated(from: least, to: .seconds(1_000_000)) == .standard)
        let high = PassphraseStretching.Cost(logarithm: 18)
        #expect(PassphraseStretching.calibrated(from: high, to: .seconds(1_000_000)) == high)
        let measured = DatabaseKeyring.PassphraseCost.measured(atLeast: .init(logarithm: 16)).logarithm
        #expect((16...17).contains(measured))
    }

    @Test("is clamped to the accepted range")
    func clamped() {
        #expect(DatabaseKeyring.PassphraseCost(logarithm: -1).logarithm == 10)
        #expect(DatabaseKeyring.PassphraseCost(logarithm: .max).logarithm == 18)
        for logarithm in [-1, 10, 18, 99] {
            #expect(DatabaseKeyring.PassphraseCost(logarithm: logarithm).stretching.isAcceptable)
        }
    }

    @Test("does not prevent other slots from opening if it exceeds the memory of the process")
    func tooHigh() async {
        await #expect(processExitsWith: .success) {
            let fixture = try KeyringFixture()
            let high = DatabaseKeyring.PassphraseCost(logarithm: 18)
            let low = DatabaseKeyring.PassphraseCost(logarithm: 10)
            try fixture.keyring.make([
                .secret(.passphrase("first", cost: high)), .secret(.passphrase("second", cost: low)),
            ])
            // The first derivation needs 256 MiB more than the process uses now.
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            let size = try #require(rlim_t(pages[0])) * rlim_t(getpagesize())
            var limit = rlimit(rlim_cur: size + 128 << 20, rlim_max: rlim_t.max)
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
            #expect(throws: DatabaseFileError.self) {
                try fixture.keyring.check(unlockedBy: .passphrase("first"))
            }
            #expect(try fixture.keyring.check(unlockedBy: .passphrase("second")) == 2)
        }
    }
}

/// A flag that one thread sets and others read.
// @unchecked: `value` is only touched under `lock`.
private final class Flag: @unchecked Sendable {
    private let lock = NSLock()
    private var value = false

    var isSet: Bool { lock.withLock { value } }

    func set() { lock.withLock { value = true } }
}
