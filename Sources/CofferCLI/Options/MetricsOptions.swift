internal import ArgumentParser
internal import Coffer

/// The options for metrics.
struct MetricsOptions: ParsableArguments {
    @Option(
        name: .customLong("metrics"),
        help: .value(
            "file",
            "Write the result of the run to this file, for the textfile collector of node_exporter. The file "
                + "is readable by all, and keeps the results of other runs."), completion: .file())
    var file: String?

    @Option(
        name: .customLong("metrics-target"),
        help: .value("name", "The target label: by default, the path of the file or of the manifest."))
    var target: String?

    /// The path of the file, or nil to write none.
    var path: String? { file ?? Defaults.current.metrics }

    func validate() throws {
        if let path = file {
            try FileNames.checkIsNoDash(path, "the metrics file")
            if let objection = DatabaseFile.objection(toNameOf: path) {
                throw ValidationError("'\(path)' cannot be the metrics file: \(objection)")
            }
        }
        if target != nil && path == nil {
            throw ValidationError("--metrics-target needs --metrics.")
        }
    }

    /// Throws if the files of several arguments, which are one target, have no name.
    func checkIsOneTarget(_ arguments: [String]) throws(Failure) {
        if arguments.count > 1, path != nil, target == nil {
            throw Failure.usage("Metrics of several folders need a name: give --metrics-target.")
        }
    }
}
