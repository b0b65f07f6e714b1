internal import ArgumentParser
internal import Glibc

/// What both batches share.
struct BatchOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The list of files, '-' for the standard input.", valueName: "file"), completion: .file())
    var manifest: String

    @Flag(
        name: [.customLong("null"), .customShort("0")],
        help: "The manifest has paths only, each with a byte of zero at its end, as 'find -print0' writes them.")
    var null = false

    @Option(help: ArgumentHelp("How many files are worked on at a time.", valueName: "number"))
    var jobs = 1

    @Flag(name: .customLong("continue"), help: "Go on with an earlier run that did not complete.")
    var continues = false

    @Option(
        help: ArgumentHelp("Where the progress of the batch is kept: MANIFEST.state by default when rotating.", valueName: "file"),
        completion: .file())
    var state: String?

    func validate() throws {
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs takes a number from 1 to 256.") }
        if let state { try FileNames.checkIsNoDash(state, "the state") }
        if manifest == "-" && continues && state == nil {
            throw ValidationError("A manifest from the standard input has no state to continue. Give --state.")
        }
    }

    func readManifest() throws -> Manifest {
        let form = null ? Manifest.Form.zeroSeparatedPaths : .lines
        guard manifest != "-" else {
            return try Manifest(STDIN_FILENO, form: form, folder: ".", name: "on the standard input")
        }
        let descriptor = try Descriptor.reading(manifest, name: "The manifest '\(manifest)'")
        return try Manifest(descriptor.number, form: form, folder: FileNames.folder(of: manifest), name: "'\(manifest)'")
    }

    /// - Parameter isOptional: whether there is a state only where it was asked for: what changes nothing can be done again.
    func openState(_ command: String, isOptional: Bool) throws -> BatchState? {
        let standard = manifest == "-" || (isOptional && !continues) ? nil : manifest + ".state"
        return try (state ?? standard).map { try BatchState(path: $0, command: command, continues: continues) }
    }
}
