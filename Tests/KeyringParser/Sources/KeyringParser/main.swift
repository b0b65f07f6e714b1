import Foundation

@testable import Coffer

// KeyringParser SEED COUNT: gives so many forged keyrings to the parser and to who opens them, and each
// flipped bit of one with five slots. What is not the text that was written has to be refused; a single whole
// copy is enough. The sanitizer ends the process where memory is not used well.

guard CommandLine.arguments.count == 3, let seed = UInt64(CommandLine.arguments[1]),
    let count = Int(CommandLine.arguments[2])
else {
    fatalError("KeyringParser SEED COUNT")
}

let folder = NSTemporaryDirectory() + "keyring-parser-\(ProcessInfo.processInfo.processIdentifier)"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
defer { try? FileManager.default.removeItem(atPath: folder) }

func fail(_ words: String, _ bytes: [UInt8]) -> Never {
    print("keyring-parser: \(words): \(String(decoding: bytes, as: UTF8.self))")
    try? FileManager.default.removeItem(atPath: folder)
    exit(1)
}

let keyring = DatabaseKeyring(databasePath: folder + "/a.db")
let anna = DatabaseKeyring.Secret.rawKey((0..<32).map { UInt8($0) })
let office = try DatabaseKeyring.Identity.random()
try keyring.make([
    .secret(anna, name: "Anna's laptop"), .secret(.passphrase("correct horse"), name: "Änne"),
    .secret(try DatabaseKeyring.RecoveryKey.random().secret), .recipient(office.recipient, name: "office"),
    .secret(.rawKey((0..<32).map { UInt8(99 - $0) })),
])
let forgery = try Forgery(Array(Data(contentsOf: URL(fileURLWithPath: keyring.path))))
var tally = (read: 0, opened: 0)
var random = Random(seed)
for _ in 0..<count {
    let bytes = try forgery.make(&random)
    guard let found = try? KeyringText.read(bytes) else { continue }
    tally.read += 1
    // What opens has to say what was written.
    guard (try? UnlockedKeyring.unlock(found.document, by: anna, KeyringFile(path: keyring.path))) != nil
    else { continue }
    tally.opened += 1
    if found.document != forgery.document { fail("a forged keyring was opened", bytes) }
}
print(
    "keyring-parser: \(count) forged keyrings, \(tally.read) read, \(tally.opened) of them opened, because "
        + "a copy was whole"
)

// Each bit, in one copy and in both.
let half = forgery.file.count / 2
for bit in 0..<(8 * half) {
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
print("keyring-parser: \(8 * half) bits of a keyring with five slots, in one copy and in both: all found")

// What people type or paste.
var taken = 0
let texts = [
    office.recipient.description, unsafe office.withUnsafeText { unsafe String(decoding: $0, as: UTF8.self) },
]
for round in 0..<count / 10 {
    var bytes = round.isMultiple(of: 3) ? random.bytes(random.below(200)) : Array(texts[round % 2].utf8)
    if !round.isMultiple(of: 3) { bytes[random.below(bytes.count)] = random.byte() }
    let text = String(decoding: bytes, as: UTF8.self)
    if let recipient = try? DatabaseKeyring.Recipient(text), recipient != office.recipient { taken += 1 }
    _ = DatabaseKeyring.Secret.identity(bytes)
    _ = DatabaseKeyring.Secret.recoveryKey(bytes)
}
// A check sum of 32 bits takes one of so many.
if taken > 1 { fail("\(taken) wrong recipients were taken", []) }
print("keyring-parser: \(count / 10) texts of recipients, identities and recovery keys")
