internal import ArgumentParser

/// Combines the recorded results of a manifest's batches, or of its shards.
struct BatchStatusCommand: Operation {
    static let configuration = CommandConfiguration.coffer(
        "batch status --manifest <file> [--shards <count>] [options]",
        abstract: "Show the files that a batch, or all its shards, have not done yet.",
        discussion: """
            Reads the states next to the manifest, one for each shard, as far as they belong to the last \
            command. A line of the manifest that was changed since counts as not begun. Exit code 0 if all \
            files are done, 1 if some failed or were not begun. A state is a record, not a proof: for that, \
            run 'coffer batch verify' with the new key.

            EXAMPLES
              coffer batch status --manifest fleet.jsonl
              coffer batch status --manifest fleet.jsonl --shards 8 --remove
            """)

    @OptionGroup
    var list: ManifestOptions

    @Option(
        help: .value(
            "count", "The number of shards. Without it, reads the state of a batch of the whole manifest."))
    var shards: Int?

    @Option(name: .customLong("of"), help: .value("command", "The command of the batch: rotate by default."))
    var command: Batch = .rotate

    enum Batch: String, ExpressibleByArgument, CaseIterable, Sendable {
        case rotate, encrypt, decrypt, upgrade, vacuum, backup, query
    }

    @Flag(help: "Remove the states if all files are done.")
    var remove = false

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        guard shards.map({ (1...10_000).contains($0) }) ?? true else {
            throw ValidationError("--shards takes a number from 1 to 10000.")
        }
        guard list.manifest != nil else {
            throw ValidationError("Missing expected argument '--manifest <file>'")
        }
        guard !list.isStream else {
            throw ValidationError("A manifest from the standard input has no state.")
        }
    }

    var readsDefaults: Bool { false }

    func run(in session: Session) throws -> ExitStatus {
        let manifest = try list.read()
        let items = manifest.items
        session.reporter.start(["files": items.map(\.path)])
        let shares: [Shard?] =
            try shards.map { count in try (1...count).map { try Shard(number: $0, of: count) } } ?? [nil]
        let states = shares.compactMap { list.state(of: $0, command == .rotate ? nil : command.rawValue) }
        let codes = try states.reduce(into: [String: Int32]()) { codes, state in
            codes.merge(try BatchState.codes(in: state, of: manifest) ?? [:]) { $1 }
        }
        var (done, failed) = (0, 0)
        for item in items {
            let code = codes[item.line]
            guard code != 0 else {
                done += 1
                continue
            }
            failed += code == nil ? 0 : 1
            let path = HiddenKeys.hiding(inName: item.path, at: item.location)
            let status = code == BatchState.begun ? ExitStatus.outputExists.rawValue : code ?? 1
            session.reporter.result(
                ["path": path, "begun": code != nil, "code": status],
                text: ["\(path): \(code.map(words(for:)) ?? "not begun")"],
                isAnswer: true)
        }
        session.reporter.note(
            "\(grouped: done) of \(counted: items.count, "file") done, "
                + "\(grouped: failed) failed, \(grouped: items.count - done - failed) not begun")
        guard done == items.count else { return .answerIsNo }
        if remove { try states.forEach { try BatchState.remove($0) } }
        return .done
    }

    private func words(for code: Int32) -> String {
        code == BatchState.begun ? "begun, and perhaps done" : "failed (exit code \(code))"
    }
}
