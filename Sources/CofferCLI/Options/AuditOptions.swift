internal import ArgumentParser

/// The options for the audit log.
struct AuditOptions: ParsableArguments {
    @Option(help: .value("file", "Record the work in an audit log."), completion: .file())
    var audit: String?

    @Flag(help: "Do nothing unless the audit log can be written.")
    var auditRequired = false

    @OptionGroup
    var secret: AuditKeyOptions

    @OptionGroup
    var site: SiteSecretOptions

    func validate() throws {
        if auditRequired && audit == nil {
            throw ValidationError("--audit-required needs --audit.")
        }
        if audit == nil, try secret.isGiven {
            throw ValidationError("The secret of an audit log needs --audit.")
        }
        if let audit { try FileNames.checkIsNoDash(audit, "the audit log") }
    }
}

/// The options for the secret of an audit log. At most one source may be given.
struct AuditKeyOptions: SecretSourceOptions {
    static let prefix = "audit-key"

    @Option(
        name: .customLong("audit-key-file"),
        help: ArgumentHelp(
            "Chain the log with a secret from this file. Without one, anyone who can write to the log can "
                + "recompute its chain.",
            valueName: "file"), completion: .file())
    var file: String?

    @Option(
        name: .customLong("audit-key-fd"),
        help: ArgumentHelp("Read the log secret from an open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Option(
        name: .customLong("audit-key-command"),
        help: ArgumentHelp(
            "Run a command, without a shell, that prints the log secret.", valueName: "command"))
    var command: String?

    @Option(
        name: .customLong("audit-key-env"),
        help: ArgumentHelp(
            "Take the log secret from an environment variable (not recommended).", valueName: "name"))
    var environment: String?

    @Option(
        name: .customLong("audit-key-credential"),
        help: ArgumentHelp("Take the log secret from a systemd credential.", valueName: "name"))
    var credential: String?

    var standardInput: Bool { false }
}
