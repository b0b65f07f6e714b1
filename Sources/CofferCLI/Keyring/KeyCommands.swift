internal import ArgumentParser
internal import Coffer

/// `coffer key`: the commands for keyrings.
struct KeyCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage the keyring of a database: several ways to open it.",
        usage: "coffer key <command> <file> [options]",
        discussion: """
            A keyring is a small file next to the database, named after it with .keys appended: back up both \
            together. It contains the random key of the database, sealed to slots: passphrases, raw keys, \
            recovery keys and recipients. Changing a slot is quick, and writes no page of the database. All \
            commands take --unlock-... for files with a keyring.

            EXAMPLES
              coffer key init app.db                          a new database; prompts for a passphrase
              coffer key add app.db --recovery                a recovery key, to print or write down
              coffer key change app.db                        another passphrase
              coffer query app.db "SELECT 1" --unlock-file passphrase.txt
            """,
        subcommands: [
            KeyInitCommand.self, KeyListCommand.self, KeyAddCommand.self, KeyRemoveCommand.self,
            KeyChangeCommand.self,
            KeyRecoverCommand.self,
            KeyRotateCommand.self, KeyExportCommand.self, KeyRestoreCommand.self, KeyDestroyCommand.self,
        ])

    func run() throws {
        throw ValidationError(
            "Give a command, such as coffer key list <file>; 'coffer key --help' lists them.")
    }
}

/// A command that works on the keyring of one file.
protocol KeyringOperation: RecordedOperation {
    var file: String { get }
}

extension KeyringOperation {
    static var title: String { "key \(configuration.commandName ?? "")" }
    var subject: String? { file }
    var names: [String] { [file] }
    var keyring: DatabaseKeyring { DatabaseKeyring(databasePath: file) }

    /// Makes a change, records it in the audit log, and reports it.
    ///
    /// - Parameters:
    ///   - words: the report, which is made after the change.
    ///   - slot: the changed slot, for programs.
    func change(
        _ session: Session, _ trail: AuditTrail, _ words: @autoclosure () -> String,
        slot: @autoclosure () -> DatabaseKeyring.Contents.Slot? = nil, _ body: () throws -> Void
    ) throws -> ExitStatus {
        try trail.record(file) { _ in
            try body()
            return true
        }
        let facts: [JSONValue.Member] =
            slot().map { [.init("slot", .count($0.number)), .init("slot_name", .string($0.name))] } ?? []
        session.reporter.result(
            [.init("path", .string(file)), .init("keyring", .string(keyring.path)), .init("changed", true)]
                + facts + [.init("code", 0)],
            text: ["\(file): \(words())"])
        return .done
    }
}

extension DatabaseKeyring.Contents {
    func slot(_ number: Int?) -> Slot? { slots.first { $0.number == number } }

    /// Returns the only slot with another secret than in an earlier reading, or nil if there are several.
    func changedSlot(since before: DatabaseKeyring.Contents) -> Slot? {
        let changed = slots.filter { $0.recipient != before.slot($0.number)?.recipient }
        return changed.count == 1 ? changed[0] : nil
    }
}

extension DatabaseKeyring.Contents.Slot {
    /// The slot in messages, as in `slot 2 (Ben)`.
    var title: String { name.isEmpty ? "slot \(number)" : "slot \(number) (\(name))" }
}

struct KeyListCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the slots of a keyring, without a key.",
        usage: "coffer key list <file> [options]",
        discussion: """
            Without a secret, the list is not authenticated. With an --unlock-... option, the keyring is \
            opened and checked, including that it belongs to the database. Slots of passphrases show the \
            cost of a guess. A slot below 2^17 steps was created by an older version or with a lower \
            setting; 'coffer key change' raises it to the present cost.

            EXAMPLES
              coffer key list app.db
            """)
    static let title = "key list"

    @Argument(help: "The database.", completion: .file())
    var file: String

    @OptionGroup(title: "The secret that opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var subject: String? { file }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings([file]))])
        let keyring = DatabaseKeyring(databasePath: file)
        let contents = try keyring.inspect()
        let opened = try unlock.request().map { request in
            try keyring.check(unlockedBy: session.keys.slotSecret(request, subject: file))
        }
        let proof = opened.map { ", verified with slot \($0)" } ?? ""
        var lines = ["\(file): \(TextLayout.counted(contents.slots.count, "slot", "slots"))\(proof)"]
        for slot in contents.slots {
            lines.append("  \(slot.number)  \(slot.kind.words)\(slot.name.isEmpty ? "" : "  \(slot.name)")")
            if slot.kind == .recipient { lines.append("     \(slot.recipient)") }
            if let cost = slot.passphraseCost {
                lines.append("     each guess costs \(cost.words)")
                if cost.isBelowStandard { warn(slot.number, cost, session.reporter) }
            }
        }
        if contents.isRotating {
            lines.append("  a rotation of the key was interrupted: run 'coffer key rotate' again")
        }
        for damage in contents.damage { lines.append("  damaged, but the other copy is intact: \(damage)") }
        session.reporter.result(
            [
                .init("path", .string(file)), .init("keyring", .string(keyring.path)),
                .init("generation", .count(Int(contents.generation))),
                .init("epoch", .count(Int(contents.epoch))), .init("rotating", .bool(contents.isRotating)),
                .init("proved", .bool(opened != nil)),
                .init("slots", .strings(contents.slots.map { "\($0.number) \($0.kind.words) \($0.name)" })),
                .init("slot_list", .array(contents.slots.map(\.facts))),
                .init("passphrase_costs", .array(contents.slots.compactMap(\.costFacts))),
                .init("damage", .strings(contents.damage.map(\.description))), .init("code", 0),
            ], text: lines, isAnswer: true)
        return .done
    }

    private func warn(_ slot: Int, _ cost: DatabaseKeyring.PassphraseCost, _ reporter: Reporter) {
        reporter.warning(
            "\(keyring): a guess of the passphrase of slot \(slot) costs \(cost.words), less than "
                + "\(DatabaseKeyring.PassphraseCost.standard.words). Set a passphrase again, which may be "
                + "the same: coffer key change \(file) --slot \(slot)")
    }

    private var keyring: String { DatabaseKeyring(databasePath: file).path }
}

extension DatabaseKeyring.PassphraseCost {
    fileprivate var words: String { "2^\(logarithm) steps and \(TextLayout.size(Int64(memory)))" }
}

extension DatabaseKeyring.Contents.Slot {
    /// The slot as JSON.
    fileprivate var facts: JSONValue {
        .object([
            .init("slot", .count(number)), .init("kind", .string(kind.words)), .init("name", .string(name)),
        ])
    }

    /// The cost of the slot's passphrase, as JSON.
    fileprivate var costFacts: JSONValue? {
        guard let cost = passphraseCost else { return nil }
        return .object([
            .init("slot", .count(number)), .init("logarithm", .count(cost.logarithm)),
            .init("memory", .count(cost.memory)), .init("below_standard", .bool(cost.isBelowStandard)),
        ])
    }
}

extension DatabaseKeyring.Contents.Slot.Kind {
    fileprivate var words: String {
        switch self {
        case .passphrase: "passphrase"
        case .rawKey: "raw"
        case .recoveryKey: "recovery"
        case .recipient: "recipient"
        case .command: "command"
        }
    }
}
