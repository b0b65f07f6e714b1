#if DEBUG
import Foundation

@testable import Coffer

/// Checks the parser with a keyring of five slots and with everything that resembles it.
final class Examination {
    let forgery: Forgery
    private(set) var tally = (read: 0, opened: 0)

    private let folder: String
    private let keyring: DatabaseKeyring
    private let anna = DatabaseKeyring.Secret.rawKey((0..<32).map { UInt8($0) })
    private let office: DatabaseKeyring.Identity

    init() throws {
        folder = NSTemporaryDirectory() + "keyring-parser-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        keyring = DatabaseKeyring(databasePath: folder + "/a.db")
        office = try DatabaseKeyring.Identity.random()
        try keyring.make([
            .secret(anna, name: "Anna's laptop"), .secret(.passphrase("correct horse"), name: "Änne"),
            .secret(try DatabaseKeyring.RecoveryKey.random().secret),
            .recipient(office.recipient, name: "office"),
            .secret(.rawKey((0..<32).map { UInt8(99 - $0) })),
        ])
        forgery = try Forgery(Array(Data(contentsOf: URL(fileURLWithPath: keyring.path))))
    }

    /// Removes the temporary files.
    func end() { try? FileManager.default.removeItem(atPath: folder) }

    /// Prints a message unbuffered, even if the output is a pipe.
    static func say(_ words: String) {
        FileHandle.standardOutput.write(Data("keyring-parser: \(words)\n".utf8))
    }

    private func fail(_ words: String, _ bytes: [UInt8]) -> Never {
        Examination.say("\(words): \(String(decoding: bytes, as: UTF8.self))")
        end()
        exit(1)
    }

    /// Checks that a keyring that opens has the original content.
    func examine(_ bytes: [UInt8]) {
        guard let found = try? KeyringText.read(bytes) else { return }
        tally.read += 1
        guard
            (try? UnlockedKeyring.unlock(found.document, by: anna, KeyringFile(path: keyring.path))) != nil
        else { return }
        tally.opened += 1
        if found.document != forgery.document { fail("a forged keyring was opened", bytes) }
    }

    /// Flips every `step`-th bit, in one copy and in both. Returns the number of flipped bits.
    func examineBits(step: Int) -> Int {
        let half = forgery.file.count / 2
        let bits = stride(from: 0, to: 8 * half, by: step)
        for bit in bits {
            var bytes = forgery.file
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let found = try? KeyringText.read(bytes), found.damage.count == 1,
                found.document == forgery.document
            else {
                fail("bit \(bit) of the first copy is not told", bytes)
            }
            bytes[bit / 8 + half] ^= 1 << UInt8(bit % 8)
            if (try? KeyringText.read(bytes)) != nil { fail("bit \(bit) of both copies is not found", bytes) }
        }
        return Array(bits).count
    }

    /// Checks texts that people type or paste.
    func examineTexts(count: Int, _ random: inout Random) {
        let texts = [
            office.recipient.description,
            unsafe office.withUnsafeText { unsafe String(decoding: $0, as: UTF8.self) },
        ]
        var taken = 0
        for round in 0..<count {
            var bytes =
                round.isMultiple(of: 3) ? random.bytes(random.below(200)) : Array(texts[round % 2].utf8)
            if !round.isMultiple(of: 3) { bytes[random.below(bytes.count)] = random.byte() }
            let text = String(decoding: bytes, as: UTF8.self)
            if let recipient = try? DatabaseKeyring.Recipient(text), recipient != office.recipient {
                taken += 1
            }
            _ = DatabaseKeyring.Secret.identity(bytes)
            _ = DatabaseKeyring.Secret.recoveryKey(bytes)
        }
        // A 32-bit checksum accepts one in 2^32 wrong texts.
        if taken > 1 { fail("\(taken) wrong recipients were taken", []) }
    }
}
#endif
