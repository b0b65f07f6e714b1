internal import ArgumentParser
internal import Coffer

/// The options at the end of the help of each command that records its work.
struct RecordOptions<Metrics: ParsableArguments & Sendable>: ParsableArguments, Sendable {
    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Metrics")
    var metrics: Metrics

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions
}

/// The place of a group of options that a command does not have.
struct NoOptions: ParsableArguments, Sendable {}

/// The options for the format of files.
protocol FormatOptions: ParsableArguments & Sendable {
    var settings: CipherSettings { get }
}

extension NoOptions: FormatOptions {
    var settings: CipherSettings { CipherSettings() }
}

/// The options of a command that opens existing files and records its work.
struct AccessOptions<Titles: AccessTitles, Metrics: ParsableArguments & Sendable>: ParsableArguments, Sendable
{
    @OptionGroup(title: Titles.key)
    var key: FileKeyOptions

    @OptionGroup(title: Titles.format)
    var cipher: Titles.Format

    @OptionGroup
    var record: RecordOptions<Metrics>
}

/// The titles of the options that open files, in the help of a command.
protocol AccessTitles {
    /// ``NoOptions`` if the format is detected.
    associatedtype Format: FormatOptions = CipherOptions
    static var key: String { get }
    static var format: String { get }
}

enum OneFile: AccessTitles {
    static let key = "The key"
    static let format = "The format of the file"
}

enum SeveralFiles: AccessTitles {
    static let key = "The key"
    static let format = "The format of the files"
}
