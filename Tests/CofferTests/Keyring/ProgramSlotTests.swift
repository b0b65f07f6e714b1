import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Slots that a program opens", .serialized)
struct ProgramSlotTests {
    let fixture: KeyringFixture
    private let anna = KeyringFixture.anna

    init() throws {
        fixture = try KeyringFixture()
        try fixture.make()
    }

    /// Writes a program that runs the given lines after it has read `word`, `challenge` and `token`.
    private func program(_ name: String, _ lines: String, timeout: Double = 60) throws
        -> DatabaseKeyring.Command
    {
        let text = """
            #!/bin/sh
            read title; read word; read _ challenge; read _ token
            echo "$title, $word, $token, $#" >> "$0.log"
            \(lines)

            """
        let path = fixture.directory.path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return DatabaseKeyring.Command(path, ["--one", "two words"], timeout: timeout)
    }

    /// Writes a program that acts like a device with its own key.
    private func device(_ name: String, key: String, token: String = "0a0b") throws -> DatabaseKeyring.Command
    {
        try program(
            name,
            """
            if [ $word = make ]; then token=\(token); fi
            [ "$token" = \(token) ] || exit 3
            echo "secret $(printf '\(key) %s %s' $challenge $token | sha256sum | cut -c1-64)"
            if [ $word = make ]; then echo "token $token"; fi
            """)
    }

    private func problem(_ command: DatabaseKeyring.Command) -> EncryptionFailure.KeyCommandProblem? {
        let found = KeyringFixture.problem {
            _ = try fixture.keyring.add(.secret(.command(command)), unlockedBy: anna)
        }
        guard case .command(command.program, let problem) = found else {
            Issue.record("\(String(describing: found))")
            return nil
        }
        return problem
    }

    @Test(
        "a program gets the challenge and token of its slot, once for all openings of a configuration"
    )
    func opens() throws {
        let device = try device("device", key: "k")
        let keys = try fixture.keyring.add(.secret(.command(device), name: "TPM"), unlockedBy: anna)
        #expect(keys == 2)
        let slot = try fixture.keyring.inspect().slots[1]
        #expect(slot.kind == .command && slot.name == "TPM")
        let configuration = fixture.configuration(.command(device))
        for _ in 0..<2 {
            let pool = try DatabasePool(path: fixture.path, configuration: configuration)
            #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 2)
            try pool.close()
        }
        let log = String(decoding: try fixture.directory.bytes(of: "device.log"), as: UTF8.self)
        let opened = "coffer keyring command 1, open, 0a0b, 2\n"
        #expect(log == "coffer keyring command 1, make, , 2\n" + opened + opened + opened)
        // The second call verified the new slot, and the third derived its public key.
        try fixture.keyring.rotateDataKey(unlockedBy: .command(device))
        #expect(try fixture.items(.command(device)) == ["letter", "photo"])
        #expect(fixture.problem(.command(try self.device("other", key: "x"))) == .noMatchingSlot)
    }

    @Test(
        "a program that fails for one slot is tried for the others; the keyring never names a program"
    )
    func severalPrograms() throws {
        let (first, second) = (
            try device("first", key: "k", token: "01"), try device("second", key: "l", token: "02")
        )
        for device in [first, second] { try fixture.keyring.add(.secret(.command(device)), unlockedBy: anna) }
        #expect(try fixture.keyring.check(unlockedBy: .command(second)) == 3)
        let text = String(decoding: try fixture.directory.bytes(of: "items.db.keys"), as: UTF8.self)
        #expect(!text.contains("first") && !text.contains(fixture.directory.path("")))
        try fixture.keyring.remove(slot: 3, unlockedBy: anna)
        guard case .command(_, .failed(exitCode: 3)) = fixture.problem(.command(second)) else {
            Issue.record("another problem")
            return
        }
    }

    @Test("a program that does not answer in time is killed with all that it has started")
    func endsChildren() throws {
        let list = fixture.directory.path("children")
        let hangs = try program(
            "hangs",
            """
            trap '' TERM
            sh -c 'echo $$ >> "\(list)"; sleep 1000 & echo $! >> "\(list)"; wait' &
            echo $! >> "\(list)"
            wait
            sleep 1000
            """, timeout: 3)
        #expect(problem(hangs) == .outOfTime(seconds: 3))
        let children = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n").compactMap {
            pid_t($0)
        }
        try #require(!children.isEmpty)
        // A signal takes effect only when the machine gets to it.
        let deadline = Date() + Patience.seconds
        while children.contains(where: Self.runs), Date() < deadline { usleep(10_000) }
        #expect(!children.contains(where: Self.runs))
    }

    /// Returns true if the process exists and has not ended.
    private static func runs(_ id: pid_t) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return false }
        return !text[end...].hasPrefix(") Z")
    }

    @Test("errors of a program are reported, and change nothing")
    func failures() throws {
        let before = try fixture.directory.bytes(of: "items.db.keys")
        let digits = String(repeating: "5a", count: 32)
        #expect(try problem(program("fails", "exit 7")) == .failed(exitCode: 7))
        #expect(try problem(program("dies", "kill -9 $$")) == .killed(signal: 9))
        #expect(try problem(program("hangs", "exec sleep 1000", timeout: 0.3)) == .outOfTime(seconds: 0.3))
        let silent = try program("silent", "echo secret \(digits); exec >&-; exec sleep 1000", timeout: 0.3)
        #expect(problem(silent) == .outOfTime(seconds: 0.3))
        #expect(
            problem(DatabaseKeyring.Command(fixture.directory.path("none"))) == .notStarted(errno: ENOENT))
        #expect(problem(DatabaseKeyring.Command("")) == .notStarted(errno: ENOENT))
        for (index, answer) in [
            ":", "echo \(digits)", "echo secret", "echo secret \(digits)5",
            "echo secret \(digits.dropLast(2))",
            "printf 'secret  \(digits)'", "echo secret \(digits); echo token",
            "echo secret \(digits); echo token 5",
            "echo secret \(digits); echo token 5x", "echo secret \(digits); echo token 55; echo token 55",
            "printf 'secret \(digits)\\n\\ntoken 55'",
            "echo secret \(String(repeating: "0", count: 64))",
            "echo secret \(digits); printf 'token %02050d' 0",
            "head -c 70000 /dev/zero",
        ].enumerated() {
            #expect(try problem(program("answers\(index)", answer)) == .noAnswer, "\(answer)")
        }
        #expect(
            try problem(
                program("changes", "echo \"secret $(head -c 32 /dev/urandom | sha256sum | cut -c1-64)\""))
                == .answersDiffer)
        #expect(try fixture.directory.bytes(of: "items.db.keys") == before)
    }

    @Test("long tokens fill a keyring before it is too long to be read, even during a data key rotation")
    func longTokens() throws {
        let long = try device("long", key: "k", token: String(repeating: "7b", count: 1024))
        var count = 1
        while count < 32, (try? fixture.keyring.add(.secret(.command(long)), unlockedBy: anna)) != nil {
            count += 1
        }
        #expect(count > 10 && count < 32)
        #expect(
            KeyringFixture.problem { _ = try fixture.keyring.add(.secret(.command(long)), unlockedBy: anna) }
                == .full)
        _ = try? FailPoint.$failing.withValue(.renamed) {
            try fixture.keyring.rotateDataKey(unlockedBy: anna)
        }
        try fixture.keyring.rotateDataKey(unlockedBy: anna)
        #expect(try fixture.keyring.inspect().slots.count == count)
        #expect(try fixture.items(anna) == ["letter", "photo"])
    }
}
