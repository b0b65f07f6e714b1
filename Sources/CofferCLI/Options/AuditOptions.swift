internal import ArgumentParser

/// The log of what was done to which file.
struct AuditOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Add what is done to an audit log.", valueName: "file"), completion: .file())
    var audit: String?

    @Flag(help: "Do nothing unless the audit log can be written.")
    var auditRequired = false

    @OptionGroup
    var secret: AuditKeyOptions

    @OptionGroup
    var site: SiteSecretOptions

    func validate() throws {
        if auditRequired && audit == nil {
            throw ValidationError("--audit-required needs --audit, which says where.")
        }
        if audit == nil, try secret.isGiven {
            throw ValidationError("The secret of an audit log needs --audit, which says where.")
        }
        if let audit { try FileNames.checkIsNoDash(audit, "the audit log") }
    }

    /// Checks the log, and fails, or goes on without one, if it is not to be continued.
    func trail(_ session: Session, command: String) throws -> AuditTrail {
        var log: AuditLog?
        if let audit {
            let candidate = AuditLog(path: audit, seal: try secret.seal(session))
            do throws(Failure) {
                try candidate.checkIsWritable()
                log = candidate
            } catch {
                if auditRequired { throw error }
                session.reporter.warning(error.message)
            }
        }
        return AuditTrail(
            log: log, isRequired: auditRequired, command: command, site: try site.secret(session),
            session: session)
    }
}

/// Where the secret of an audit log comes from: at most one of these.
struct AuditKeyOptions: SecretSourceOptions {
    static let prefix = "audit-key"

    @Option(
        name: .customLong("audit-key-file"),
        help: ArgumentHelp(
            "Chain the log with a secret from this file. Without one, whoever can write to the log can "
                + "compute its chain anew.",
            valueName: "file"), completion: .file())
    var file: String?

    @Option(
        name: .customLong("audit-key-fd"),
        help: ArgumentHelp("Read the secret of the log from an open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Option(
        name: .customLong("audit-key-command"),
        help: ArgumentHelp(
            "Run a command, without a shell, that prints the secret of the log.", valueName: "command"))
    var command: String?

    @Option(
        name: .customLong("audit-key-env"),
        help: ArgumentHelp(
            "Take the secret of the log from an environment variable (not recommended).", valueName: "name"))
    var environment: String?

    @Option(
        name: .customLong("audit-key-credential"),
        help: ArgumentHelp("Take the secret of the log from a systemd credential.", valueName: "name"))
    var credential: String?

    var standardInput: Bool { false }

    /// What the chain of the log is made with.
    func seal(_ session: Session) throws -> AuditSeal {
        guard let source = try source() else { return .plain }
        return try AuditSeal(session.keys.secret(from: source), sourceName: source.name)
    }
}
