internal import ArgumentParser

/// The options for the secret of a site, from which keys get identifiers that are the same in all of its
/// files. At most one source may be given.
struct SiteSecretOptions: SecretSourceOptions {
    static let prefix = "site-secret"

    @Option(
        name: .customLong("site-secret-file"),
        help: ArgumentHelp(
            "Give keys identifiers that are the same in all files, derived with a secret from this file.",
            valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong("site-secret-fd"),
        help: ArgumentHelp("Read the site secret from an open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Option(
        name: .customLong("site-secret-command"),
        help: ArgumentHelp(
            "Run a command, without a shell, that prints the site secret.", valueName: "command"))
    var command: String?

    @Option(
        name: .customLong("site-secret-env"),
        help: ArgumentHelp(
            "Take the site secret from an environment variable (not recommended).", valueName: "name"))
    var environment: String?

    @Option(
        name: .customLong("site-secret-credential"),
        help: ArgumentHelp("Take the site secret from a systemd credential.", valueName: "name"))
    var credential: String?

    var standardInput: Bool { false }

    /// Returns the secret, or nil if none was given.
    func secret(_ keys: KeyReader) throws -> SiteSecret? {
        guard let source = try source() else { return nil }
        return try SiteSecret(keys.secret(from: source), sourceName: source.name)
    }
}
