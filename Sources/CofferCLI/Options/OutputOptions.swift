internal import ArgumentParser

/// The options for output and timeouts, which are valid before and after the name of a command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object per line on the standard output.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print answers and errors only.")
    var quiet = false

    @Flag(name: .shortAndLong, help: ArgumentHelp("Print more details.", visibility: .hidden))
    var verbose = false

    @Option(help: .value("when", "Show progress: auto (for long work), always, or never."))
    var progress = ProgressChoice.auto

    @Option(help: .value("seconds", "How long to wait for locks."))
    var lockTimeout = 5.0

    @Option(help: .value("seconds", "How long a key command may take."))
    var keyTimeout = 60.0

    func validate() throws {
        if quiet && verbose { throw ValidationError("Give --quiet or --verbose, not both.") }
        guard lockTimeout.isFinite, (0...86_400).contains(lockTimeout) else {
            throw ValidationError("The lock timeout must be from 0 to 86400 seconds.")
        }
        guard keyTimeout.isFinite, (0.1...86_400).contains(keyTimeout) else {
            throw ValidationError("The timeout of key commands must be from 0.1 to 86400 seconds.")
        }
    }
}

extension ProgressChoice: ExpressibleByArgument {}

extension OutputStyle {
    init(_ options: OutputOptions) {
        self.init(
            isJSON: options.json, isQuiet: options.quiet, isVerbose: options.verbose,
            progress: options.progress)
    }
}
