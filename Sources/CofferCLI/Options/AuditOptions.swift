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

/// The options for the secret of an audit log.
typealias AuditKeyOptions = SecretOptions<AuditKeyRole>

enum AuditKeyRole: SecretRole {
    typealias Input = NoOptions
    static let prefix = "audit-key"
    static let help = SecretHelp(
        "the log secret",
        file: "Chain the log with a secret from this file. Without one, anyone who can write to the log can "
            + "recompute its chain.")
}
