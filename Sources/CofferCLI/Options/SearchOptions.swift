internal import ArgumentParser

/// The options for folders in the place of files.
struct SearchOptions: ParsableArguments {
    @Option(
        name: .customLong("name"),
        help: .value(
            "pattern",
            "In folders, files whose names fit this shell pattern (repeatable), instead of "
                + "\(FileSearch.usualEndings.joined(separator: ", "))."))
    var patterns: [String] = []

    static let help = """
        In a folder, all databases below it: files whose names end in \
        \(FileSearch.usualEndings.joined(separator: ", ")) or fit --name, and dated backups, except in batch \
        backup. Links are not followed, and side files and keyrings are left out. A folder without \
        permission, a name that is not UTF-8, a pipe of such a name, and a folder without databases fail \
        alone (66); the others are done, with exit code 3.
        """
}
