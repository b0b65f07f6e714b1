/// What the tool's exit code says: documented, and never renumbered.
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

    /// One line for the help, the man page and the README.
    var meaning: String {
        switch self {
        case .done: "done, or it was so already"
        case .answerIsNo: "the answer is no"
        case .someFailed: "some of the files failed; each has its own code"
        case .runAgain: "interrupted from outside; run it again"
        case .usage: "wrong usage; nothing was done"
        case .badData: "the file is damaged or not as expected, or two entries of a key differ"
        case .inputMissing: "an input is missing: a file, a key file, a variable"
        case .unavailable: "the engine or the key command does not work"
        case .internalError: "an error of coffer itself; please report it"
        case .outputExists: "the output exists, or cannot be made"
        case .inputOutput: "reading or writing failed, or the disk is full"
        case .busy: "somebody else uses the file; try later"
        case .keyRejected: "the key does not open the file, or cannot be a key"
        case .unsafeConfiguration: "a key file or a keyring that others can reach, or a bad manifest"
        case .interrupted: "ended by SIGINT (Ctrl-C), with every file whole"
        case .terminated: "ended by SIGTERM, with every file whole"
        }
    }
}
