internal import Foundation

/// How the tool speaks: decided once, from the options and from where the output goes.
struct OutputStyle: Sendable {
    enum Progress: Sendable {
        /// A bar that is drawn again and again on a terminal.
        case bar
        /// A line from time to time, for logs.
        case lines
        /// JSON objects.
        case objects
        case none
    }

    let isJSON: Bool
    let isQuiet: Bool
    let isVerbose: Bool
    let progress: Progress

    /// Whether progress is shown from the start, or only once the work takes long.
    let showsProgressAtOnce: Bool

    /// Whether words on the standard error may be coloured. Results never are.
    let colorsErrors: Bool

    init(_ options: OutputOptions) {
        self.init(
            isJSON: options.json, isQuiet: options.quiet, isVerbose: options.verbose,
            progress: options.progress)
    }

    init(
        isJSON: Bool, isQuiet: Bool = false, isVerbose: Bool = false, progress choice: ProgressChoice = .auto,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
        showsProgressAtOnce = choice == .always
        progress =
            switch choice {
            case .never: .none
            case .auto where isQuiet: .none
            case .auto, .always:
                if isJSON {
                    .objects
                } else if OutputFile.errors.isTerminal && environment["TERM"] != "dumb" {
                    .bar
                } else {
                    .lines
                }
            }
        // See <https://no-color.org>: any value but the empty one turns colour off.
        let allowsColor = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb" && !isJSON
        colorsErrors = allowsColor && OutputFile.errors.isTerminal
    }
}

enum Color: String {
    case red = "31"
    case yellow = "33"

    func paint(_ text: String, if isOn: Bool) -> String {
        isOn ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
    }
}
