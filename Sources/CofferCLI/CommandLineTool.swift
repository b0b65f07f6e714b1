internal import ArgumentParser
internal import Glibc
internal import SQLCipherBridge

/// The command line tool: parses the arguments, runs a command, and reports how it ended.
package enum CommandLineTool {
    package static func main() -> Never {
        StandardDescriptors.takeClosedOnes()
        StandardDescriptors.keepInheritedOnes()
        protectProcess()
        Interruption.shared.install()
        guard CommandLine.argc > 0 else {
            // The runtime reads the arguments from `/proc`.
            OutputFile.errors.writeLine(
                "coffer: error: The arguments cannot be read: /proc is not mounted. Mount it: mount -t proc "
                    + "proc /proc"
            )
            exit(ExitStatus.unavailable.rawValue)
        }
        let arguments = ArgumentGuess.resolving(Array(CommandLine.arguments.dropFirst()))
        exit(run(arguments).rawValue)
    }

    /// Disables core dumps, so the secrets of a crashed process do not reach the disk.
    private static func protectProcess() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        ProcessPrivacy.denyCoreDumps()
        // The runtime's own report of a crash shows registers and memory.
        for number in TerminalEcho.crashSignals { _ = signal(number, SIG_DFL) }
        // Files are accessible only to their owner, unless a command sets another mode.
        umask(0o077)
    }

    private static func run(_ arguments: [String]) -> ExitStatus {
        do {
            if let page = try HelpRequest.page(arguments) {
                OutputFile.output.writeLine(page)
                return OutputFile.output.lostText == nil ? .done : .inputOutput
            }
            if let words = CofferCommand.unknownHelp(in: arguments) { return refuse(words, arguments) }
            guard let operation = try operation(arguments) else { return .done }
            guard isRead(by: operation) else {
                return refuse(
                    "An argument is not UTF-8, so it could name another file. Rename the file, or make a "
                        + "link with a UTF-8 name.", arguments)
            }
            return operation.perform()
        } catch {
            return refuse(error, arguments)
        }
    }

    /// Returns true if an operation can work without the arguments that are not UTF-8: all of them are files,
    /// and there are others.
    private static func isRead(by operation: any Operation) -> Bool {
        let misread = ArgumentText.misread
        guard !misread.isEmpty else { return true }
        guard let operation = operation as? any EachFileOperation else { return false }
        let files = Set(operation.files)
        return misread.isSubset(of: files) && files.count > misread.count
    }

    /// Returns the operation that the arguments ask for, or nil once ArgumentParser has printed the help that
    /// it adds.
    static func operation(_ arguments: [String]) throws -> (any Operation)? {
        var command = try CofferCommand.parseAsRoot(
            SourceArgument.addingPrompts(ArgumentMistake.shieldingStatements(arguments)))
        if let operation = command as? any Operation { return operation }
        try command.run()
        return nil
    }

    /// Prints the help if it was requested, and the problem with the arguments otherwise.
    private static func refuse(_ error: any Error, _ arguments: [String]) -> ExitStatus {
        let text = HiddenKeys.hiding(in: Spelling.withoutFarGuess(CofferCommand.fullMessage(for: error)))
        guard CofferCommand.exitCode(for: error) != .success else {
            OutputFile.output.writeLine(text)
            return OutputFile.output.lostText == nil ? .done : .inputOutput
        }
        let command = CofferCommand.words(of: arguments)
        if let mistake = ArgumentMistake.key(in: arguments, of: command) {
            return refuse(mistake.message, mistake.rest)
        }
        if let words = ArgumentMistake.unlockSecret(in: arguments, text) { return refuse(words, arguments) }
        let words =
            CofferCommand.unknownName(in: arguments) ?? ArgumentMistake.unexpected(text, of: command)
            ?? ArgumentMistake.statement(in: arguments)
        if let words { return refuse(words, arguments) }
        let lines = ArgumentMistake.lines(ArgumentMistake.advised(text, of: command), arguments)
        OutputFile.errors.writeLine(
            lines.hasPrefix("Error: ") ? "coffer: error: " + lines.dropFirst(7) : lines)
        let message = ArgumentMistake.advised(
            Spelling.withoutFarGuess(CofferCommand.message(for: error)), of: command)
        reportRefusal(message.isEmpty ? "Invalid arguments." : message, arguments)
        return .usage
    }

    private static func refuse(_ message: String, _ arguments: [String]) -> ExitStatus {
        OutputFile.errors.writeLine("coffer: error: \(harmless: HiddenKeys.hiding(in: message))")
        reportRefusal(message, arguments)
        return .usage
    }

    /// Reports a parse failure as JSON to programs that asked for JSON.
    private static func reportRefusal(_ message: String, _ arguments: [String]) {
        guard arguments.prefix(while: { $0 != "--" }).contains("--json") else { return }
        let name = HiddenKeys.hiding(in: arguments.first { !$0.hasPrefix("-") } ?? "")
        let reporter = Reporter(command: name, style: OutputStyle(isJSON: true), errors: OutputFile(-1))
        reporter.failure(.usage(message))
        reporter.summary(.usage)
    }
}
