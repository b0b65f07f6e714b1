import CofferTestSupport
import Testing

@testable import Coffer

@Suite("The secrets of keyrings as text", .serialized)
struct KeyringSecretTests {
    let fixture: KeyringFixture
    private var keyring: DatabaseKeyring { fixture.keyring }
    private let anna = KeyringFixture.anna

    init() throws { fixture = try KeyringFixture() }

    @Test("a recovery key is read as people type it, and each wrong character is found")
    func readsRecoveryKeys() throws {
        let recovery = try DatabaseKeyring.RecoveryKey.random()
        let text = unsafe recovery.withUnsafeText { unsafe String(decoding: $0, as: UTF8.self) }
        #expect(text.split(separator: "-").map(\.count) == Array(repeating: 4, count: 14))
        try keyring.make([.secret(recovery.secret)])
        let typed = text.lowercased().replacing("-", with: " ").replacing("0", with: "o").replacing(
            "1", with: "l")
        try keyring.check(unlockedBy: .recoveryKey("\(typed)\n".utf8))
        for index in text.indices where text[index] != "-" {
            var wrong = text
            wrong.replaceSubrange(index...index, with: text[index] == "7" ? "8" : "7")
            let secret = DatabaseKeyring.Secret.recoveryKey(wrong.utf8)
            #expect(
                KeyringFixture.problem { _ = try keyring.check(unlockedBy: secret) } == .invalidRecoveryKey)
        }
        for wrong in ["", "abc", text + "0", String(text.dropLast()), "U" + text.dropFirst()] {
            #expect(
                KeyringFixture.problem { _ = try keyring.check(unlockedBy: .recoveryKey(wrong.utf8)) }
                    == .invalidRecoveryKey)
        }
    }

    @Test("the text of a recipient is read, and each wrong character is found")
    func readsRecipients() throws {
        let identity = try DatabaseKeyring.Identity.random()
        let text = identity.recipient.description
        #expect(try DatabaseKeyring.Recipient(" \(text)\n") == identity.recipient)
        for index in text.indices {
            var wrong = text
            wrong.replaceSubrange(index...index, with: text[index] == "7" ? "8" : "7")
            #expect(throws: DatabaseError.self) { try DatabaseKeyring.Recipient(wrong) }
        }
    }

    @Test("descriptions of secrets are redacted")
    func showsNothing() throws {
        let identity = try DatabaseKeyring.Identity.random()
        let recovery = try DatabaseKeyring.RecoveryKey.random()
        for text in ["\(anna)", "\(identity)", "\(recovery)", String(reflecting: anna)] {
            #expect(text.hasSuffix("(<redacted>)"))
        }
        #expect(Mirror(reflecting: identity).children.isEmpty && Mirror(reflecting: anna).children.isEmpty)
    }
}
