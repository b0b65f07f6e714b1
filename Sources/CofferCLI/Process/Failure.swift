/// Why a command, or its work on one file, ends without success.
struct Failure: Error, Sendable {
    let status: ExitStatus

    /// A word for scripts, such as `wrong_key`: stable, unlike the message.
    let reason: String

    /// What happened, and what to do. Never contains a secret.
    let message: String

    init(_ status: ExitStatus, _ reason: String, _ message: String) {
        self.status = status
        self.reason = reason
        self.message = message
    }

    static func usage(_ message: String) -> Failure { Failure(.usage, "usage", message) }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}
