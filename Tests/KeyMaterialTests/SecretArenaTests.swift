import CofferTestSupport
import Dispatch
import Foundation
import Testing

@testable import KeyMaterial

@Suite("The pages of secrets")
struct SecretArenaTests {
    private static let pageSize = Int(getpagesize())

    private func total(_ arena: SecretArena) -> Int {
        arena.use.lockedByteCount + arena.use.unlockedByteCount
    }

    @Test("are shared by small secrets, and unmapped with the last one")
    func shared() {
        let arena = SecretArena()
        let secrets = (0..<64).map { _ in unsafe UInt(bitPattern: arena.allocate(32)) }
        #expect(Set(secrets).count == 64)
        #expect(total(arena) == Self.pageSize)
        for address in secrets {
            #expect(total(arena) == Self.pageSize)
            if let memory = unsafe UnsafeMutableRawPointer(bitPattern: address) {
                unsafe arena.release(memory, 32)
            }
        }
        #expect(total(arena) == 0)
    }

    @Test("never give the same bytes to two secrets, in any sizes and order of release")
    func distinct() {
        let arena = SecretArena()
        var random = SeededRandom("secrets in an arena")
        var live: [(address: UInt, count: Int, fill: UInt8)] = []
        func end(_ index: Int) {
            let (address, count, fill) = live.remove(at: index)
            guard let memory = unsafe UnsafeMutableRawPointer(bitPattern: address) else {
                Issue.record("no address")
                return
            }
            let isWhole = unsafe UnsafeRawBufferPointer(start: memory, count: count).allSatisfy { $0 == fill }
            #expect(isWhole)
            unsafe arena.release(memory, count)
        }
        for _ in 0..<5000 {
            if live.count > 200 || !live.isEmpty && Bool.random(using: &random) {
                end(Int.random(in: live.indices, using: &random))
            } else {
                let count = Int.random(in: 1...(Bool.random(using: &random) ? 64 : 5000), using: &random)
                let fill = UInt8.random(in: 0...255, using: &random)
                let memory = unsafe arena.allocate(count)
                unsafe memory.initializeMemory(as: UInt8.self, repeating: fill, count: count)
                live.append((UInt(bitPattern: memory), count, fill))
            }
        }
        while !live.isEmpty { end(0) }
        #expect(total(arena) == 0)
    }

    @Test("are exclusive to each secret, and are all unmapped, if many threads use them")
    func threads() {
        let arena = SecretArena()
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            var random = SeededRandom(seed: UInt64(number), "threads of an arena")
            for _ in 0..<2000 {
                let secrets = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                    let count = Int.random(in: 1...2000, using: &random)
                    let memory = unsafe arena.allocate(count)
                    unsafe memory.initializeMemory(as: UInt8.self, repeating: UInt8(number), count: count)
                    return (address: UInt(bitPattern: memory), count: count)
                }
                for (address, count) in secrets {
                    guard let memory = unsafe UnsafeMutableRawPointer(bitPattern: address) else { continue }
                    let bytes = unsafe UnsafeRawBufferPointer(start: memory, count: count)
                    let isWhole = unsafe bytes.allSatisfy { $0 == UInt8(number) }
                    #expect(isWhole)
                    unsafe arena.release(memory, count)
                }
            }
        }
        #expect(arena.use == .init())
    }

    @Test("that the system refuses to lock are counted as long as they exist")
    func unlocked() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            try #require(unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0)
            // The superuser may lock memory beyond the limit.
            if geteuid() == 0 { try #require(seteuid(65534) == 0) }
            let arena = SecretArena()
            let memory = unsafe arena.allocate(32)
            #expect(arena.use == .init(lockedByteCount: 0, unlockedByteCount: Int(getpagesize())))
            unsafe arena.release(memory, 32)
            #expect(arena.use == .init())
        }
    }
}
