import CofferTestSupport
import Foundation
import KeyMaterial
import Testing

@testable import Coffer

@Suite("Keys of keyrings in memory", .serialized)
struct KeyringMemoryTests {
    /// One secret of each kind that opens a slot, and the bytes to search for.
    private struct Vault {
        let fixture: KeyringFixture
        let secrets: [DatabaseKeyring.Secret]
        var needles: [(name: String, needle: MemoryNeedle)] = []

        init() throws {
            fixture = try KeyringFixture()
            let (office, recovery) = (
                try DatabaseKeyring.Identity.random(), try DatabaseKeyring.RecoveryKey.random()
            )
            let raw = try SecretBytes.randomOfKey(count: 32).withUnsafeBytes {
                unsafe DatabaseKeyring.Secret.rawKey($0)
            }
            secrets = [.passphrase("correct horse"), raw, recovery.secret, office.secret]
            try fixture.make([
                .secret(secrets[0]), .secret(raw), .secret(recovery.secret), .recipient(office.recipient),
            ])
            try look(for: "data key", fixture.keyring.exportedKey(unlockedBy: KeyringFixture.anna))
            let slots = try KeyringFile(path: fixture.keyring.path).document().document.slots
            for (secret, slot) in zip(secrets, slots.dropFirst()) {
                guard let key = try secret.privateKey(of: slot) else { throw CocoaError(.coderInvalidValue) }
                needles.append(
                    ("private key of \(slot.way.word)", key.bytes.withUnsafeBytes { unsafe MemoryNeedle($0) })
                )
            }
        }

        mutating func look(for name: String, _ key: DatabaseKey) throws {
            let needle = unsafe key.withUnsafeRawKeyBytes { unsafe MemoryNeedle($0) }
            needles.append((name, try #require(needle)))
        }

        func counts() throws -> [String: Int] {
            try Dictionary(needles.map { ($0.name, try $0.needle.count()) }, uniquingKeysWith: +)
        }
    }

    @Test(
        "data keys, private keys and derived keys are in memory only while something is open"
    )
    func leavesNothing() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var needles: [(name: String, needle: MemoryNeedle)] = []
            var seen: [String: Int] = [:]
            do {
                var vault = try Vault()
                for secret in vault.secrets {
                    let pool = try DatabasePool(
                        path: vault.fixture.path, configuration: vault.fixture.configuration(secret))
                    _ = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") }
                    if seen.isEmpty { seen = try vault.counts() }
                    try pool.close()
                }
                let (keyring, office) = (vault.fixture.keyring, vault.secrets[3])
                try keyring.change(slot: 1, to: KeyringFixture.ben, unlockedBy: office)
                try keyring.add(.secret(KeyringFixture.anna), unlockedBy: office)
                try keyring.rotateDataKey(unlockedBy: office)
                try vault.look(for: "data key after the rotation", keyring.exportedKey(unlockedBy: office))
                needles = vault.needles
            }
            let left = try needles.map { ($0.name, try $0.needle.count()) }.filter { $0.1 > 0 }
            print("while it was open: \(seen), afterwards: \(left)")
            // The private keys of raw keys and recovery keys are derived on demand, and wiped by then.
            let held = ["data key", "private key of passphrase", "private key of recipient"].allSatisfy {
                seen[$0, default: 0] > 0
            }
            exit(held && needles.count == 6 && left.isEmpty ? 7 : 1)
        }
    }
}
