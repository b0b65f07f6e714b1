internal import ArgumentParser

/// Under which names a batch keeps files as they were.
struct KeptFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Keep each file as it was, under its name with this at the end.", valueName: "suffix"))
    var keepSuffix: String?

    @Flag(help: "Keep no old files.")
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
                "--keep-suffix takes the end of a name, such as .old, and none that SQLite has for itself.")
        }
    }

    func suffix(_ standard: String?) -> String? { keepNone ? nil : keepSuffix ?? standard }
}
