/// The reason that a command, or its work on one file, did not succeed.
struct Failure: Error, Sendable {
    let status: ExitStatus

    /// A keyword for scripts, such as `wrong_key`. Unlike the message, it is stable.
    let reason: String

    /// A description of the problem and its remedy. It never contains a secret.
    let message: String

    /// The file that the message is about, or nil if that is not known.
    var path: String?

    /// The part of the work that was done before the failure, and must not be done again.
    private(set) var done = Part.none

    enum Part: Sendable {
        case none, some, all
    }

    init(_ status: ExitStatus, _ reason: String, _ message: String) {
        self.status = status
        self.reason = reason
        self.message = message
    }

    /// Returns the failure with the file that it is about, unless it has one already.
    func about(_ path: String) -> Failure {
        var failure = self
        failure.path = self.path ?? path
        return failure
    }

    /// Returns the failure with another sentence in its message.
    func adding(_ sentence: String) -> Failure {
        var failure = Failure(status, reason, message + " " + sentence)
        failure.path = path
        failure.done = done
        return failure
    }

    /// The same failure, marked as one that came after a part of the work, or after all of it.
    func after(_ part: Part) -> Failure {
        var failure =
            switch part {
            case .none: self
            case .some:
                reason == "interrupted"
                    ? Failure(status, reason, "Interrupted. Earlier statements stay; do not run them again.")
                    : self
            case .all: adding("The change was made; do not make it again.")
            }
        failure.path = path
        failure.done = part
        return failure
    }

    static func usage(_ message: String) -> Failure { Failure(.usage, "usage", message) }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}
