internal import ArgumentParser

/// The options for the names under which a batch keeps old files.
struct KeptFileOptions: ParsableArguments {
    @Option(help: .value("suffix", "Keep each old file, with this suffix appended to its name."))
    var keepSuffix: String?

    @Flag(help: ArgumentHelp("Keep no old files.", visibility: .hidden))
    var keepNone = false

    func validate() throws {
        if keepNone, keepSuffix != nil {
            throw ValidationError("Give --keep-suffix or --keep-none, not both.")
        }
        guard let keepSuffix else { return }
        guard !keepSuffix.isEmpty, !keepSuffix.contains("/"),
            !["-wal", "-shm", "-journal"].contains(keepSuffix)
        else {
            throw ValidationError(
                "--keep-suffix takes a suffix such as .old, but none that SQLite uses.")
        }
    }

    func suffix(_ standard: String?) -> String? { keepNone ? nil : keepSuffix ?? standard }
}
