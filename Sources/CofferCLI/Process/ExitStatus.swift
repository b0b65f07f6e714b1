/// The exit codes of the tool. They are documented and never renumbered.
enum ExitStatus: Int32, Sendable, Hashable, CaseIterable {
    case done = 0
    case answerIsNo = 1
    case someFailed = 3
    case runAgain = 4
    case usage = 64
    case badData = 65
    case inputMissing = 66
    case unavailable = 69
    case internalError = 70
    case outputExists = 73
    case inputOutput = 74
    case busy = 75
    case keyRejected = 77
    case unsafeConfiguration = 78
    case interrupted = 130
    case terminated = 143

    /// The meaning in one line, for the help, the man page and the README.
    var meaning: String {
        switch self {
        case .done: "done, or already done"
        case .answerIsNo: "a negative answer: a difference, a finding or a rejected row"
        case .someFailed: "some files failed; each has its own code"
        case .runAgain: "interrupted; run the command again"
        case .usage: "invalid usage; nothing was done"
        case .badData: "the file is damaged or unexpected, or two entries of a key differ"
        case .inputMissing: "an input is missing: a file, key file or variable"
        case .unavailable: "the engine or the key command failed"
        case .internalError: "an internal error; please report it"
        case .outputExists: "the output exists or cannot be created"
        case .inputOutput: "reading or writing failed, or the disk is full"
        case .busy: "the file is in use; try again later"
        case .keyRejected: "the key does not open the file, or is not a valid key"
        case .unsafeConfiguration: "others can access a key file or keyring, or the manifest is invalid"
        case .interrupted: "ended by SIGINT (Ctrl-C); no file is left half-changed"
        case .terminated: "ended by SIGTERM; no file is left half-changed"
        }
    }
}
