import CofferTestSupport
import Testing

@testable import Coffer

/// Keys that are derived from a master key.
@Suite("Derived keys")
struct DerivedKeyTests {
    private let directory: TestDirectory
    private let master = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))

    init() throws {
        directory = try TestDirectory()
    }

    private func hex(_ key: DatabaseKey) -> String? {
        unsafe key.withUnsafeRawKeyBytes { bytes in hexText(unsafe Array(bytes)) }
    }

    private func problem(_ key: DatabaseKey) -> EncryptionFailure.KeyProblem? {
        let error = #expect(throws: DatabaseError.self) {
            try directory.makeQueue("refused.db", Configuration.rawKeyed.with { $0.key = key })
        }
        guard case .invalidKey(let problem)? = error?.encryptionFailure else { return nil }
        return problem
    }

    // Computed with Python's hmac module.
    @Test("a derived key is HKDF-SHA256 of the master key")
    func knownAnswers() {
        let expected = "07189e2e26821d039d637804cf9021464d2620a8a4cbd49ac8623e786e4cdb87"
        #expect(hex(.derived(from: master, info: "tenant 7")) == expected)
        #expect(hex(.derived(from: master, info: Array("tenant 7".utf8))) == expected)
        let salted = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32), salt: saltBytes)
        #expect(hex(.derived(from: salted, info: "tenant 7")) == expected)
        #expect(
            hex(KeyGenerations(of: "tenant 7", from: master)[3])
                == "b8b02ebda6359870144d3e09265717afdf6438fe78490a13ba7025d311b06465")
    }

    @Test("names, salts and generations give different keys")
    func independence() {
        var keys: [String?] = []
        for name in ["", "a", "a1", "a\0", "A"] {
            keys.append(hex(.derived(from: master, info: name)))
            keys.append(hex(.derived(from: master, info: name, salt: [1])))
            let generations = KeyGenerations(of: name, from: master)
            keys += [0, 1, 11, 256, -1, .max, .min].map { hex(generations[$0]) }
        }
        #expect(Set(keys).count == 45 && !keys.contains(nil))
    }

    @Test("a provider of the master key is called when a database is opened")
    func providers() throws {
        let master = master
        let key = DatabaseKey.derived(from: .provider { master }, info: "tenant 7")
        #expect(hex(key) == nil)
        try directory.makeQueue("a.db", Configuration.rawKeyed.with { $0.key = key }).write { db in
            try db.execute(sql: "CREATE TABLE note (text TEXT)")
        }
        let again = DatabaseKey.derived(from: master, info: "tenant 7")
        let queue = try directory.makeQueue("a.db", Configuration.rawKeyed.with { $0.key = again })
        #expect(try queue.read { try $0.tableExists("note") })
    }

    @Test("the master key must be a raw key of 32 bytes")
    func invalidMasters() {
        #expect(problem(.derived(from: .passphrase("hush"), info: "a")) == .masterKeyIsNotRaw)
        let keyring = DatabaseKey.keyring(unlockedBy: .passphrase("hush"))
        #expect(problem(.derived(from: keyring, info: "a")) == .masterKeyIsNotRaw)
        #expect(problem(.derived(from: .rawKey([1, 2, 3]), info: "a")) == .rawKeyLength(3))
        #expect(
            problem(.derived(from: .hexadecimal("00"), info: "a")) == .notHexadecimal(digits: 2))
        #expect(
            problem(.derived(from: .provider { .passphrase("hush") }, info: "a")) == .masterKeyIsNotRaw)
        #expect(
            problem(.derived(from: .provider { .provider { .random() } }, info: "a")) == .nestedProvider)
    }

    @Test("the error of a master key's provider is thrown unchanged")
    func failingProviders() {
        struct Absent: Error {}
        let key = DatabaseKey.derived(from: .provider { throw Absent() }, info: "a")
        #expect(throws: Absent.self) {
            try directory.makeQueue("a.db", Configuration.rawKeyed.with { $0.key = key })
        }
    }

    @Test("previous generations are listed newest first, down to generation 0")
    func previousGenerations() {
        let keys = KeyGenerations(of: "a", from: master)
        func expect(_ previous: [DatabaseKey], _ generations: [Int]) {
            #expect(previous.map { hex($0) } == generations.map { hex(keys[$0]) })
        }
        expect(keys.previous(to: 9, count: 3), [8, 7, 6])
        expect(keys.previous(to: 2, count: 3), [1, 0])
        expect(keys.previous(to: 1, count: 1), [0])
        for (generation, count) in [(0, 3), (-5, 3), (4, 0), (4, -1), (.min, 1)] {
            expect(keys.previous(to: generation, count: count), [])
        }
    }

    @Test("a file opens only if its generation is among those that are tried")
    func generations() throws {
        let keys = KeyGenerations(of: "a", from: master)
        var configuration = Configuration()
        configuration.setKey(keys, generation: 3)
        try directory.makeQueue("a.db", configuration).write { db in
            try db.execute(sql: "CREATE TABLE note (text TEXT)")
        }
        for generation in 3...6 {
            configuration.setKey(keys, generation: generation)
            let queue = try directory.makeQueue("a.db", configuration)
            #expect(try queue.read { try $0.tableExists("note") })
            try queue.close()
        }
        configuration.setKey(keys, generation: 7)
        let error = #expect(throws: DatabaseError.self) { try directory.makeQueue("a.db", configuration) }
        #expect(error?.encryptionFailure == .wrongKey)
    }
}
