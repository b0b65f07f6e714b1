/// The reason that a command, or its work on one file, did not succeed.
struct Failure: Error, Sendable {
    let status: ExitStatus

    /// A keyword for scripts, such as `wrong_key`. Unlike the message, it is stable.
    let reason: String

    /// A description of the problem and its remedy. It never contains a secret.
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
