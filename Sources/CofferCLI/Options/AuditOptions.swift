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

    /// The path of the log, or nil to keep none.
    var path: String? { audit ?? Defaults.current.audit }

    func validate() throws {
        if auditRequired && path == nil {
            throw ValidationError("--audit-required needs --audit.")
        }
        if path == nil, try secret.isGiven {
            throw ValidationError("--audit-key needs --audit.")
        }
        if let audit { try FileNames.checkIsNoDash(audit, "the audit log") }
    }
}

/// The options for the audit key, which is the secret of an audit log. At most one source may be given.
struct AuditKeyOptions: UntypedSourceOptions {
    static let prefix = "audit-key"

    @Option(
        name: .customLong("audit-key"),
        help: .source(
            "Chain the log with the secret from this source. Without one, anyone who can write to "
                + "the log can recompute its chain."))
    var sources: [SourceArgument] = []

    // The older options.

    @Option(name: .customLong("audit-key-file"), help: .hidden, completion: .file())
    var file: String?

    @Option(name: .customLong("audit-key-fd"), help: .hidden)
    var descriptor: Int32?

    @Option(name: .customLong("audit-key-command"), help: .hidden)
    var command: String?

    @Option(name: .customLong("audit-key-env"), help: .hidden)
    var environment: String?

    @Option(name: .customLong("audit-key-credential"), help: .hidden)
    var credential: String?
}
