internal import ArgumentParser

/// The options for folders in the place of files.
struct SearchOptions: ParsableArguments {
    @Option(
        name: .customLong("name"),
        help: .value(
            "pattern",
            "In folders, the files whose names fit this shell pattern (repeatable), instead of those that "
                + "end in \(FileSearch.usualEndings.joined(separator: ", "))."))
    var patterns: [String] = []

    static let help = """
        In a folder, all databases below it: files whose names end in \
        \(FileSearch.usualEndings.joined(separator: ", ")) or that are dated backups, or fit --name. Links \
        are not followed, and side files and keyrings are left out. A folder without permission, a name that \
        is not UTF-8, a pipe of such a name, and a folder without databases fail on their own (66); the \
        others are done, with exit code 3.
        """
}
