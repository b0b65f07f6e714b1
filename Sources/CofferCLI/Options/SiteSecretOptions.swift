internal import ArgumentParser

/// Where the secret of a site comes from, by which keys are named the same in all its files: at most one of
/// these.
struct SiteSecretOptions: SecretSourceOptions {
    static let prefix = "site-secret"

    @Option(
        name: .customLong("site-secret-file"),
        help: ArgumentHelp(
            "Name keys by identifiers that are the same in all files, made with a secret from this file.",
            valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong("site-secret-fd"),
        help: ArgumentHelp("Read the secret of the site from an open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Option(
        name: .customLong("site-secret-command"),
        help: ArgumentHelp(
            "Run a command, without a shell, that prints the secret of the site.", valueName: "command"))
    var command: String?

    @Option(
        name: .customLong("site-secret-env"),
        help: ArgumentHelp(
            "Take the secret of the site from an environment variable (not recommended).", valueName: "name"))
    var environment: String?

    @Option(
        name: .customLong("site-secret-credential"),
        help: ArgumentHelp("Take the secret of the site from a systemd credential.", valueName: "name"))
    var credential: String?

    var standardInput: Bool { false }

    /// The secret; nil if none was given.
    func secret(_ session: Session) throws -> SiteSecret? {
        guard let source = try source() else { return nil }
        return try SiteSecret(session.keys.secret(from: source), sourceName: source.name)
    }
}
