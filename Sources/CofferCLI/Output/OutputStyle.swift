internal import Foundation

/// The style of the tool's output, decided once from the options and the destination.
struct OutputStyle: Sendable {
    enum Progress: Sendable {
        /// A bar that is redrawn on a terminal.
        case bar
        /// A line at intervals, for logs.
        case lines
        /// JSON objects.
        case objects
        case none
    }

    let isJSON: Bool
    let isQuiet: Bool
    let isVerbose: Bool
    let progress: Progress

    /// True to show progress from the start, false to show it only if the work takes long.
    let showsProgressAtOnce: Bool

    /// True if text on standard error may be colored. Results are never colored.
    let colorsErrors: Bool

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
        // See <https://no-color.org>: any value except the empty one disables color.
        let allowsColor = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb" && !isJSON
        colorsErrors = allowsColor && OutputFile.errors.isTerminal
    }
}

/// The choice of the user about progress.
enum ProgressChoice: String, CaseIterable, Sendable {
    case auto, always, never
}

enum Color: String {
    case red = "31"
    case yellow = "33"

    func paint(_ text: String, if isOn: Bool) -> String {
        isOn ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
    }
}
