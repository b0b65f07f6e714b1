internal import ArgumentParser
internal import Coffer

struct KeyListCommand: Operation {
    static let configuration = CommandConfiguration.coffer(
        "key list <file> [options]", abstract: "Show the slots of a keyring, without a key.",
        discussion: """
            Without a secret, the list is not authenticated. With --unlock, the keyring is \
            opened and checked, including that it belongs to the database. Slots of passphrases show the \
            cost of a guess. A slot below 2^17 steps was created by an older version or with a lower \
            setting; 'coffer key change' raises it to the present cost.

            EXAMPLES
              coffer key list app.db
            """)
    @Argument(help: "The database.", completion: .file())
    var file: String

    @OptionGroup(title: "The secret that opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var subject: String? { file }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start(["files": [file]])
        let keyring = DatabaseKeyring(databasePath: file)
        let contents = try keyring.inspect()
        let opened = try unlock.request().map { request in
            try keyring.check(unlockedBy: session.keys.slotSecret(request, subject: file))
        }
        let proof = opened.map { ", verified with slot \($0)" } ?? ""
        var lines = ["\(file): \(counted: contents.slots.count, "slot")\(proof)"]
        for slot in contents.slots {
            lines.append("  \(slot.number)  \(slot.kind.word)\(slot.name.isEmpty ? "" : "  \(slot.name)")")
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
                "path": file, "keyring": keyring.path, "generation": Int(contents.generation),
                "epoch": Int(contents.epoch), "rotating": contents.isRotating, "proved": opened != nil,
                "slots": contents.slots.map { "\($0.number) \($0.kind.word) \($0.name)" },
                "slot_list": contents.slots.map(\.facts),
                "passphrase_costs": contents.slots.compactMap(\.costFacts),
                "damage": contents.damage.map(\.description), "code": 0,
            ], text: lines, isAnswer: true)
        return .done
    }

    private func warn(_ slot: Int, _ cost: DatabaseKeyring.PassphraseCost, _ reporter: Reporter) {
        let keyring = DatabaseKeyring(databasePath: file).path
        reporter.warning(
            "\(keyring): a guess of the passphrase of slot \(slot) costs \(cost.words), less than "
                + "\(DatabaseKeyring.PassphraseCost.standard.words). Set a passphrase again, which may be "
                + "the same: coffer key change \(file) --slot \(slot)")
    }
}

extension DatabaseKeyring.PassphraseCost {
    fileprivate var words: String { "2^\(logarithm) steps and \(size: Int64(memory))" }
}

extension DatabaseKeyring.Contents.Slot {
    /// The slot as JSON.
    fileprivate var facts: JSONObject { ["slot": number, "kind": kind.word, "name": name] }

    /// The cost of the slot's passphrase, as JSON.
    fileprivate var costFacts: JSONObject? {
        guard let cost = passphraseCost else { return nil }
        return [
            "slot": number, "logarithm": cost.logarithm, "memory": cost.memory,
            "below_standard": cost.isBelowStandard,
        ]
    }
}
