internal import ArgumentParser

/// The log of what was done to which file.
struct AuditOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Add what is done to an audit log.", valueName: "file"), completion: .file())
    var audit: String?

    @Flag(help: "Do nothing unless the audit log can be written.")
    var auditRequired = false

    init() {}

    func validate() throws {
        if auditRequired && audit == nil { throw ValidationError("--audit-required needs --audit, which says where.") }
    }

    func trail(_ session: Session, command: String) throws -> AuditTrail {
        let trail = AuditTrail(log: audit.map(AuditLog.init), isRequired: auditRequired, command: command, session: session)
        try trail.checkIsWritable()
        return trail
    }
}
