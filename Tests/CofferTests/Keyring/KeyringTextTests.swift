import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The text of a keyring")
struct KeyringTextTests {
    let fixture: KeyringFixture

    init() throws { fixture = try KeyringFixture() }

    /// Returns the file of a keyring with five slots: one of each kind and one more.
    private func file() throws -> [UInt8] {
        let recovery = try DatabaseKeyring.RecoveryKey.random()
        let office = try DatabaseKeyring.Identity.random()
        try fixture.keyring.make([
            .secret(KeyringFixture.anna, name: "Anna's laptop"),
            .secret(KeyringFixture.passphrase("correct horse"), name: "Änne"),
            .secret(recovery.secret),
            .recipient(office.recipient, name: "office"), .secret(KeyringFixture.ben),
        ])
        return try fixture.directory.bytes(of: "items.db.keys")
    }

    /// Returns the result of parsing a file, or nil if it is damaged but readable.
    private func read(_ bytes: [UInt8]) -> Result<KeyringDocument, KeyringReadingError>? {
        do throws(KeyringReadingError) {
            let (document, damage) = try KeyringText.read(bytes)
            return damage.isEmpty ? .success(document) : nil
        } catch {
            return .failure(error)
        }
    }

    @Test("has a single encoding of a few kilobytes")
    func hasOneSpelling() throws {
        let file = try file()
        let (document, damage) = try KeyringText.read(file)
        #expect(damage.isEmpty && document.slots.count == 5)
        #expect(try KeyringText.file(of: document) == file)
        #expect(file.count < 6000)
        #expect(document.slots.map(\.way.word) == ["raw", "passphrase", "recovery", "recipient", "raw"])
        #expect(document.slots.map(\.name) == ["Anna's laptop", "Änne", "", "office", ""])
    }

    @Test("each flipped bit in one copy is found, and the other copy is enough")
    func findsFlippedBits() throws {
        let file = try file()
        let whole = try KeyringText.read(file).document
        for bit in KeyringTextTests.bits(of: file.count) {
            var flipped = file
            flipped[bit / 8] ^= 1 << (bit % 8)
            let (document, damage) = try KeyringText.read(flipped)
            #expect(document == whole, "bit \(bit)")
            try #require(damage.count == 1, "bit \(bit)")
            #expect(damage[0].line > 0 && damage[0].copy >= 1, "bit \(bit)")
        }
    }

    @Test(
        "each flipped bit in both copies is refused; with a corrected checksum, only with the data key"
    )
    func refusesFlippedBits() throws {
        let file = try file()
        let half = file.count / 2
        let keyring = KeyringFile(path: fixture.path)
        var (reached, refused) = (0, 0)
        for bit in KeyringTextTests.bits(of: half) {
            var flipped = file
            for index in [bit / 8, bit / 8 + half] { flipped[index] ^= 1 << (bit % 8) }
            let found = read(flipped)
            if case .failure(.problem(.unsupportedVersion)) = found {
                // The version is parsed first, and three flips in its digit produce another version.
                #expect(bit / 8 == KeyringText.title.utf8.count, "bit \(bit)")
                continue
            }
            guard case .failure(.problem(.damaged(let places))) = found else {
                Issue.record("bit \(bit)")
                continue
            }
            #expect(places.map(\.copy) == [1, 2], "bit \(bit)")
            // A forgery with a correct checksum, made without the key.
            let forged = try KeyringTextTests.withCheckSum(Array(flipped[..<half]))
            guard forged != Array(file[..<half]),
                let document = try? KeyringText.read(forged + forged).document
            else { continue }
            reached += 1
            do throws(KeyError) {
                _ = try UnlockedKeyring.unlock(document, by: KeyringFixture.anna, keyring)
                Issue.record("bit \(bit) changes nothing")
            } catch {
                guard case .keyring(_, let problem) = error.failure else { continue }
                refused += problem == .notAuthentic || problem == .noMatchingSlot ? 1 : 0
            }
        }
        #expect(reached == refused && reached > 100)
    }

    /// Returns one bit of each byte, or all bits with `COFFER_NIGHTLY=1`.
    private static func bits(of count: Int) -> [Int] {
        Nightly.isOn ? Array(0..<8 * count) : (0..<count).map { 8 * $0 + ($0 &* 5 + $0 / 8) % 8 }
    }

    private static func withCheckSum(_ text: [UInt8]) throws -> [UInt8] {
        let line = "check ".utf8.count + 64 + 1
        let body = Array(text.dropLast(line))
        return body + Array("check \(try Digest.sha256(body).hexadecimal)\n".utf8)
    }

    @Test("a file that is cut anywhere is read as long as its first copy is whole")
    func survivesCuts() throws {
        let file = try file()
        let half = file.count / 2
        for count in 0...file.count {
            let result = read(Array(file[..<count]))
            switch result {
            case .success: #expect(count == file.count)
            case nil: #expect((half..<file.count).contains(count), "\(count)")
            case .failure: #expect(count < half, "\(count)")
            }
        }
        // The beginning of the file is missing.
        for count in stride(from: 1, through: half, by: 7) {
            let (document, damage) = try KeyringText.read(Array(file[count...]))
            #expect(document.slots.count == 5 && (damage.count == 1 || count == half), "\(count)")
        }
    }

    @Test("two whole copies that differ are refused")
    func refusesTwoTexts() throws {
        let file = try file()
        var other = try KeyringText.read(file).document
        other.generation += 1
        let both = Array(file[..<(file.count / 2)]) + (try KeyringText.text(of: other))
        #expect(throws: KeyringReadingError.self) { try KeyringText.read(both) }
        guard case .failure(.problem(.copiesDiffer)) = read(both) else {
            Issue.record("read")
            return
        }
    }

    @Test("100,000 random and half-random keyrings cause no crash and are never read as intact")
    func survivesRandomFiles() throws {
        var random = SeededRandom("keyrings")
        let file = try file()
        let text = Array(file[..<(file.count / 2)])
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for round in 0..<Nightly.pick(100_000, byDay: 5000) {
            var bytes: [UInt8]
            switch round % 4 {
            case 0:
                bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            case 1:
                bytes = text
                for _ in 0..<Int.random(in: 1...5, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
                guard bytes != text else { continue }
            case 2:
                let start = Int.random(in: 0..<text.count, using: &random)
                bytes = text
                bytes.removeSubrange(start..<Int.random(in: start...text.count, using: &random))
                guard bytes != text else { continue }
            default:
                // Swaps lines, and sometimes duplicates one.
                var mixed = lines
                mixed.swapAt(
                    Int.random(in: 0..<lines.count, using: &random),
                    Int.random(in: 0..<lines.count, using: &random))
                if Bool.random(using: &random) {
                    mixed.insert(mixed[Int.random(in: 0..<lines.count, using: &random)], at: 1)
                }
                guard mixed != lines else { continue }
                bytes = Array(mixed.joined(separator: [UInt8(ascii: "\n")]))
                guard bytes != text else { continue }
                if Bool.random(using: &random), bytes.count > 71 {
                    bytes = try KeyringTextTests.withCheckSum(bytes)
                }
            }
            guard case .failure = read(bytes + bytes) else {
                // Two equal lines may have been swapped.
                if (try? KeyringText.read(bytes + bytes).document) == (try KeyringText.read(file).document) {
                    continue
                }
                // The checksum was recomputed, so only the MACs are wrong.
                guard round % 4 == 3, let document = try? KeyringText.read(bytes + bytes).document else {
                    Issue.record("round \(round) of seed \(random.seed)")
                    continue
                }
                #expect(throws: (any Error).self) {
                    _ = try UnlockedKeyring.unlock(
                        document, by: KeyringFixture.anna, KeyringFile(path: fixture.path))
                }
                continue
            }
        }
    }

    @Test(
        "hostile parameters are refused before they are tried",
        arguments: [
            ("scrypt 63 8 1", "too high or too low"), ("scrypt 40 8 1", "too high or too low"),
            ("scrypt 17 1000000 1", "too high or too low"),
            ("scrypt 18446744073709551614 8 1", "too high or too low"),
            ("scrypt 17 8 0", "too high or too low"),
            ("scrypt -1 8 1", "not a number"),
            ("scrypt 017 8 1", "not a number"), ("scrypt 16 32 4", "too high or too low"),
            ("scrypt 20 2 2", "too high or too low"), ("scrypt 16 1 1", "too high or too low"),
            ("scrypt 20 1 1", "too high or too low"),
        ])
    func refusesHostileParameters(_ line: String, _ words: String) throws {
        let text = String(decoding: try file(), as: UTF8.self)
        let honest = try #require(text.range(of: "scrypt [0-9]+ 8 1", options: .regularExpression)).lowerBound
        let cost = text[honest...].prefix { $0 != "\n" }.split(separator: " ").prefix(4).joined(
            separator: " ")
        let hostile = try KeyringTextTests.withCheckSum(
            Array(text.prefix(text.count / 2).replacing(cost, with: line).utf8))
        let before = PassphraseStretching.derivationCount
        guard case .failure(.problem(.damaged(let places))) = read(hostile + hostile) else {
            Issue.record("read")
            return
        }
        #expect(places[0].description.contains(words))
        #expect(PassphraseStretching.derivationCount == before)
    }

    @Test("ten thousand slots, and a gigabyte, are refused")
    func refusesTooMuch() throws {
        var document = try KeyringText.read(try file()).document
        let slot = document.slots[0]
        document.slots = (1...33).map { number in
            var slot = slot
            slot.number = number
            return slot
        }
        guard case .failure(.problem(.damaged(let places))) = read(try KeyringText.file(of: document)) else {
            Issue.record("read")
            return
        }
        #expect(places[0].description.contains("more than 32 slots"))
        document.slots = Array(repeating: slot, count: 10_000)
        guard case .failure(.problem(.tooLong)) = read(try KeyringText.file(of: document)) else {
            Issue.record("read")
            return
        }
        // A sparse file, which takes no space.
        let path = fixture.keyring.path
        #expect(unsafe truncate(path, 1 << 30) == 0)
        #expect(KeyringFixture.problem { _ = try fixture.keyring.inspect() } == .tooLong(size: 1 << 30))
        #expect(unsafe truncate(path, 0) == 0)
        guard case .damaged = KeyringFixture.problem({ _ = try fixture.keyring.inspect() }) else {
            Issue.record("an empty keyring")
            return
        }
    }

    @Test(
        "unreachable counts are refused, and a change at the highest count leaves a readable keyring"
    )
    func boundsCounts() throws {
        try fixture.make()
        var document = try KeyringText.read(fixture.directory.bytes(of: "items.db.keys")).document
        let codes = document.codes
        for count in [KeyringDocument.highestCount + 1, UInt64.max - 5000, UInt64.max - 1] {
            document.generation = count
            guard case .failure(.problem(.damaged(let places))) = read(try KeyringText.file(of: document))
            else {
                Issue.record("generation \(count)")
                continue
            }
            #expect(places[0].description.contains("line 3: the number is too large"))
            document.generation = 1
            document.epochs = [count]
            document.codes = codes
            guard case .failure(.problem(.damaged)) = read(try KeyringText.file(of: document)) else {
                Issue.record("epoch \(count)")
                continue
            }
            document.epochs = [1]
        }
        // An attacker with the data key writes an almost maximal generation, with a correct MAC.
        let file = KeyringFile(path: fixture.keyring.path)
        let anna = KeyringFixture.anna
        let keys = try UnlockedKeyring.unlock(
            KeyringText.read(fixture.directory.bytes(of: "items.db.keys")).document, by: anna, file
        )
        .dataKeys
        document.generation = KeyringDocument.highestCount - 2
        let forged = try KeyringChange(document, keys, file).finished().document
        try fixture.directory.write(KeyringText.file(of: forged), to: "items.db.keys")
        try fixture.keyring.change(to: KeyringFixture.ben, unlockedBy: anna)
        try fixture.keyring.change(to: anna, unlockedBy: KeyringFixture.ben)
        #expect(try fixture.keyring.inspect().generation == KeyringDocument.highestCount)
        #expect(try fixture.items(anna) == ["letter", "photo"])
        document.epochs = [KeyringDocument.highestCount]
        var change = KeyringChange(document, keys, file)
        #expect(
            KeyringFixture.problem {
                try DatabaseFileError.translated(file.path) { try change.beginRotation() }
            } == .full)
    }

    @Test("an unsupported version is reported by its number")
    func namesOtherVersions() throws {
        let text = String(decoding: try file(), as: UTF8.self).replacing(
            "coffer keyring 1\n", with: "coffer keyring 2\n")
        guard case .failure(.problem(.unsupportedVersion(2))) = read(Array(text.utf8)) else {
            Issue.record("read")
            return
        }
    }

    @Test(
        "names that cannot be shown are refused",
        arguments: ["a\nb", "\u{1b}[31m", " x", "x ", "\u{202e}x", String(repeating: "x", count: 65)])
    func refusesNames(_ name: String) throws {
        #expect(
            KeyringFixture.problem { try fixture.keyring.make([.secret(KeyringFixture.anna, name: name)]) }
                == .invalidName)
    }
}
