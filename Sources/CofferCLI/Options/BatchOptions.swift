internal import ArgumentParser
internal import Glibc

/// The list of files that a batch works on.
struct ManifestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The list of files, '-' for the standard input.", valueName: "file"),
        completion: .file())
    var manifest: String

    @Flag(
        name: [.customLong("null"), .customShort("0")],
        help:
            "The manifest has paths only, each with a byte of zero at its end, as 'find -print0' writes them."
    )
    var null = false

    func read() throws -> Manifest {
        let form = null ? Manifest.Form.zeroSeparatedPaths : .lines
        guard manifest != "-" else {
            return try Manifest(STDIN_FILENO, form: form, folder: ".", name: "on the standard input")
        }
        let descriptor = try Descriptor.reading(manifest, name: "The manifest '\(manifest)'")
        return try Manifest(
            descriptor.number, form: form, folder: FileNames.folder(of: manifest), name: "'\(manifest)'")
    }

    /// Where a batch of all files, or of a share, keeps its state if nothing else is said; nil for a list
    /// that has no name.
    ///
    /// - Parameter word: what the batch does, where that is in the name: one that encrypts goes on from no
    ///   state of a rotation.
    func state(of shard: Shard?, _ word: String?) -> String? {
        guard manifest != "-" else { return nil }
        return ([manifest, shard?.suffix, word, "state"] as [String?]).compactMap { $0 }.joined(
            separator: ".")
    }
}

/// What all batches share.
struct BatchOptions: ParsableArguments {
    @OptionGroup
    var list: ManifestOptions

    @Option(help: ArgumentHelp("How many files are worked on at a time.", valueName: "number"))
    var jobs = 1

    @Option(
        help: ArgumentHelp(
            "Work on one share of the manifest only, such as 2/8: the second one of eight. A file is in the "
                + "same share everywhere.",
            valueName: "number/count"))
    var shard: Shard?

    @Flag(help: "Begin with no other file after the first failure.")
    var failFast = false

    @Flag(name: .customLong("continue"), help: "Go on with an earlier run that did not complete.")
    var continues = false

    @Option(
        help: ArgumentHelp(
            "Where the progress of the batch is kept: MANIFEST.state when rotating, MANIFEST.encrypt.state "
                + "when encrypting, or MANIFEST.shard-2-of-8.state for a share.",
            valueName: "file"),
        completion: .file())
    var state: String?

    func validate() throws {
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs takes a number from 1 to 256.") }
        if let state { try FileNames.checkIsNoDash(state, "the state") }
        if list.manifest == "-" && continues && state == nil {
            throw ValidationError(
                "A manifest from the standard input has no state to continue. Give --state.")
        }
    }

    /// The files of the manifest, or of its share.
    func readItems() throws -> [Manifest.Item] {
        let items = try list.read().items
        guard let shard else { return items }
        return try items.filter { try shard.has($0.path) }
    }

    /// - Parameter isOptional: whether there is a state only where it was asked for: what changes nothing can
    ///   be done again.
    func openState(_ command: String, _ word: String?, isOptional: Bool) throws -> BatchState? {
        let standard = isOptional && !continues ? nil : list.state(of: shard, word)
        return try (state ?? standard).map {
            try BatchState(path: $0, command: command, continues: continues)
        }
    }
}
