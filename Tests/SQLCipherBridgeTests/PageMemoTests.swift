import CofferTestSupport
import Foundation
import KeyMaterial
import Testing

@testable import SQLCipherBridge

@Suite("The page memo and its provider")
struct PageMemoTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func memo(_ size: Int = 1 << 16) throws -> PageMemo {
        try #require(PageMemo(size: size, pageSize: 4096))
    }

    private func tag(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: PageMemo.tagSize) }

    // MARK: The memo

    @Test("a tag is only known if each of its bits matches a noted one", arguments: 0..<256)
    func comparison(_ bit: Int) throws {
        let memo = try memo()
        let tag = try SystemRandomness.bytes(count: PageMemo.tagSize)
        memo.note(tag, number: 7)
        var other = tag
        other[bit / 8] ^= 1 << (bit % 8)
        #expect(memo.knows(tag, number: 7) && !memo.knows(other, number: 7))
    }

    @Test("a tag that was never noted is not known, not even a tag of zeros")
    func nothing() throws {
        let memo = try memo()
        #expect(!memo.knows(tag(0), number: 1))
        #expect(memo.count == 0)
        // The slot has room for more states of a page.
        memo.note(tag(1), number: 1)
        #expect(!memo.knows(tag(0), number: 1))
        #expect(memo.count == 1)
    }

    @Test("a memo keeps two states of a page, and forgets the oldest first")
    func states() throws {
        let memo = try memo()
        let tags = (1...3).map(tag)
        for tag in tags { memo.note(tag, number: 3) }
        #expect(tags.map { memo.knows($0, number: 3) } == [false, true, true])
    }

    @Test("a memo takes no more memory than its limit", arguments: [4096, 5000, 1 << 16, 1 << 22])
    func bound(_ size: Int) throws {
        let memo = try memo(size)
        for number in 1...UInt32(size / 8) { memo.note(tag(0xff), number: number) }
        let most = (1 << (Int.bitWidth - 1 - size.leadingZeroBitCount)) / PageMemo.tagSize
        #expect(memo.count == most)
    }

    @Test("a memo without memory is not created")
    func off() {
        #expect(PageMemo(size: 0, pageSize: 4096) == nil)
        #expect(PageMemo(size: -1, pageSize: 4096) == nil)
    }

    @Test("a memo can be used again after it has forgotten everything, but not after it is closed")
    func forgetting() throws {
        let memo = try memo()
        let tag = tag(7)
        memo.note(tag, number: 1)
        memo.forgetAll()
        #expect(memo.count == 0 && !memo.knows(tag, number: 1))
        memo.note(tag, number: 1)
        #expect(memo.knows(tag, number: 1))
        memo.close()
        memo.note(tag, number: 1)
        #expect(memo.count == 0 && !memo.knows(tag, number: 1))
    }

    @Test("threads can note, look up and forget tags at the same time, and no mixed tag is known")
    func threads() throws {
        let memo = try memo(4096)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<20_000 {
                let tag = tag(UInt8(truncatingIfNeeded: round | 1))
                let number = UInt32(round % 512)
                memo.note(tag, number: number)
                // Other threads note the same tags, so a mixture of two tags must not be known.
                var mixed = tag
                mixed[PageMemo.tagSize - 1] ^= 0xff
                precondition(!memo.knows(mixed, number: number))
                if round % 5000 == 4999 { memo.forgetAll() }
            }
        }
        memo.close()
        #expect(memo.count == 0)
    }

    // MARK: The provider

    @Test("only the layouts of tested SQLCipher versions are known")
    func versions() {
        for version in ["4.5.0", "4.5.6", "4.6.1", "4.7.0", "4.9.0", "4.12.0", "4.19.0"] {
            #expect(PageProvider.knowsLayout(ofCipher: "\(version) community"), "\(version)")
        }
        let others = [
            "4.4.3 community", "4.20.0 community", "5.0.0 community", "3.4.2 community", "4.6.1",
            "4.6 community",
            "4.6.1 commercial", "4.6.1 community edition", "4.6.x community", "",
        ]
        for version in others { #expect(!PageProvider.knowsLayout(ofCipher: version), "\(version)") }
    }

    @Test("a provider with an unknown layout, or the layout of another version, is left unchanged")
    func otherLayout() throws {
        _ = try Engine.pageProvider
        let isOld = Engine.sqliteVersionNumber <= 3_046_001
        for version in ["4.20.0 community", isOld ? "4.7.0 community" : "4.6.1 community"] {
            guard case .engine(.unknownVersion) = PageProvider.install(cipherVersion: version, allowed: nil)
            else {
                Issue.record("the layout of \(version) was taken for that of this engine")
                return
            }
        }
    }

    @Test("the environment can only turn the provider off", arguments: ["engine", "kept", "", "anything"])
    func environment(_ name: String) {
        guard case .engine(.notWanted) = PageProvider.install(cipherVersion: "4.6.1 community", allowed: name)
        else {
            Issue.record("the environment was not heeded")
            return
        }
    }

    /// True if this process has the provider. Otherwise there is nothing to test.
    private static var isInstalled: Bool {
        if case .kept? = try? Engine.pageProvider { true } else { false }
    }

    @Test("this engine has the provider, unless the environment says otherwise")
    func installed() throws {
        let connection = try EngineConnection(
            path: directory.path("version.db"), flags: [.readWrite, .create])
        let version = try connection.handle.firstText(trusted: "PRAGMA cipher_version")
        let isKnown = PageProvider.knowsLayout(ofCipher: version ?? "")
        #expect(
            PageMemoTests.isInstalled
                == (isKnown && ProcessInfo.processInfo.environment["COFFER_PAGE_PROVIDER"] == nil))
    }

    private func open(_ key: UInt8, _ memo: PageMemo?) throws -> EngineConnection {
        let connection = try EngineConnection(path: directory.path("file.db"), flags: [.readWrite, .create])
        let key = SecretBytes([UInt8](repeating: key, count: 32))
        try connection.handle.setKey(rawKey: key, salt: [UInt8](1...16), work: .kept(memo))
        return connection
    }

    @Test("a memo does not know pages under another key", .enabled(if: PageMemoTests.isInstalled))
    func keys() throws {
        let memo = try memo()
        do {
            let connection = try open(1, memo)
            try connection.handle.execute(
                trusted: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(50000))")
        }
        #expect(memo.count > 10)
        let right = try open(1, memo)
        #expect(try right.handle.firstText(trusted: "SELECT count(*) FROM t") == "1")
        #expect(memo.hits > 0)
        let hits = memo.hits
        let wrong = try open(2, memo)
        #expect(throws: EngineError.self) { try wrong.handle.verifyKey() }
        #expect(memo.hits == hits)
    }

    @Test(
        "a key that is changed in place leaves a file that only the new one opens",
        .enabled(if: PageMemoTests.isInstalled))
    func rekeying() throws {
        let memo = try memo()
        do {
            let connection = try open(1, memo)
            try connection.handle.execute(
                trusted: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(50000))")
            try connection.handle.rekey(rawKey: SecretBytes([UInt8](repeating: 2, count: 32)))
        }
        let old = try open(1, memo)
        #expect(throws: EngineError.self) { try old.handle.verifyKey() }
        let new = try open(2, memo)
        #expect(try new.handle.firstText(trusted: "SELECT length(a) FROM t") == "50000")
        #expect(try new.handle.firstText(trusted: "PRAGMA cipher_integrity_check") == nil)
    }

    @Test(
        "connections that use the engine's own provider do not use a memo",
        .enabled(if: PageMemoTests.isInstalled))
    func enginesOwn() throws {
        let memo = try memo()
        _ = try open(1, memo)
        let connection = try EngineConnection(path: directory.path("other.db"), flags: [.readWrite, .create])
        try connection.handle.setKey(rawKey: SecretBytes([UInt8](repeating: 1, count: 32)), salt: nil)
        try connection.handle.execute(trusted: "CREATE TABLE t (a)")
        #expect(memo.count == 0)
    }
}
