internal import ArgumentParser

/// What is left for monitors.
struct MetricsOptions: ParsableArguments {
    @Option(
        name: .customLong("metrics"),
        help: ArgumentHelp(
            "Write how the run ended into this file, for the textfile collector of node_exporter. It can be "
                + "read by all, and keeps what other runs have written into it.",
            valueName: "file"),
        completion: .file())
    var path: String?

    @Option(
        name: .customLong("metrics-target"),
        help: ArgumentHelp(
            "What the label of the target says: the path of the file, or of the manifest, by default.",
            valueName: "name"))
    var target: String?

    func validate() throws {
        if let path { try FileNames.checkIsNoDash(path, "the file of metrics") }
        if target != nil && path == nil {
            throw ValidationError("--metrics-target is about metrics: give --metrics.")
        }
    }
}
