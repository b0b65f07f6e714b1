internal import ArgumentParser
internal import Coffer

/// The place of a group of options that a command does not have.
struct NoOptions: ParsableArguments, Sendable {}

/// The options for the format of files.
protocol FormatOptions: ParsableArguments & Sendable {
    var settings: CipherSettings { get }
}

extension NoOptions: FormatOptions {
    var settings: CipherSettings { CipherSettings() }
}

/// The titles of the options that open files, in the help of a command.
protocol AccessTitles {
    /// ``NoOptions`` if the format is detected.
    associatedtype Format: FormatOptions = CipherOptions
    static var key: String { get }
    static var format: String { get }
}

enum SeveralFiles: AccessTitles {
    static let key = "The key"
    static let format = "The format of the files"
}
