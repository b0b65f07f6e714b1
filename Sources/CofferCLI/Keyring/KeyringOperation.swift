internal import Coffer

/// A command that works on the keyring of one file.
protocol KeyringOperation: FileOperation {}

extension KeyringOperation {
    var keyring: DatabaseKeyring { DatabaseKeyring(databasePath: file) }

    /// Returns the secret that opens the keyring. Checks that the keyring exists before it is read.
    func secret(_ unlock: UnlockOptions, _ session: Session) throws -> DatabaseKeyring.Secret {
        _ = try keyring.inspect()
        return try session.keys.unlocking(unlock, file)
    }

    /// Makes a change, records it in the audit log, and reports it.
    ///
    /// - Parameters:
    ///   - words: the report, which is made after the change.
    ///   - slot: the changed slot, for programs.
    ///   - printsSecret: true if the standard output gets a secret, and therefore no report.
    func change(
        _ session: Session, _ trail: AuditTrail, _ words: @autoclosure () -> String,
        slot: @autoclosure () -> DatabaseKeyring.Contents.Slot? = nil, printsSecret: Bool = false,
        _ body: () throws -> Void
    ) throws -> ExitStatus {
        try trail.record(file) { _ in
            try body()
            return true
        }
        guard !printsSecret else {
            session.reporter.note("\(file): \(words())")
            return .done
        }
        let facts: JSONObject = slot().map { ["slot": $0.number, "slot_name": $0.name] } ?? [:]
        session.reporter.result(
            ["path": file, "keyring": keyring.path, "changed": true], facts, ["code": 0],
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
