internal import ArgumentParser
internal import Glibc
internal import SQLCipherBridge

/// The tool: reads the arguments, runs a command, and says how it ended.
package enum CommandLineTool {
    package static func main() -> Never {
        StandardDescriptors.takeClosedOnes()
        StandardDescriptors.keepInheritedOnes()
        protectProcess()
        Interruption.shared.install()
        guard CommandLine.argc > 0 else {
            // The runtime reads them from there.
            OutputFile.errors.writeLine(
                "coffer: error: The arguments cannot be read, as there is no /proc. Mount it: mount -t proc "
                    + "proc /proc"
            )
            exit(ExitStatus.unavailable.rawValue)
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard ArgumentText.isValid else {
            let words =
                "An argument is not UTF-8, and would name another file. Give the file a name that is, or a "
                + "link of such a name."
            exit(refuse(words, arguments).rawValue)
        }
        exit(run(arguments).rawValue)
    }

    /// Secrets of a crashed process must not lie on the disk.
    private static func protectProcess() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        ProcessPrivacy.denyCoreDumps()
        // The runtime's own report of a crash shows registers and memory.
        for number in TerminalEcho.crashSignals { _ = signal(number, SIG_DFL) }
        // Files are for their owner, unless a command says otherwise.
        umask(0o077)
    }

    private static func run(_ arguments: [String]) -> ExitStatus {
        if let words = CofferCommand.unknownHelp(in: arguments) { return refuse(words, arguments) }
        do {
            return try operation(arguments)?.perform() ?? .done
        } catch {
            return refuse(error, arguments)
        }
    }

    /// The operation that arguments ask for; nil once ArgumentParser has given the help that it adds.
    static func operation(_ arguments: [String]) throws -> (any Operation)? {
        var command = try CofferCommand.parseAsRoot(ArgumentMistake.shieldingStatements(arguments))
        if let operation = command as? any Operation { return operation }
        try command.run()
        return nil
    }

    /// Prints help where it was asked for, and what is wrong with the arguments otherwise.
    private static func refuse(_ error: any Error, _ arguments: [String]) -> ExitStatus {
        let text = HiddenKeys.hiding(in: CofferCommand.fullMessage(for: error))
        guard CofferCommand.exitCode(for: error) != .success else {
            OutputFile.output.writeLine(text)
            return OutputFile.output.lostText == nil ? .done : .inputOutput
        }
        if let mistake = ArgumentMistake.key(in: arguments) { return refuse(mistake.message, mistake.rest) }
        if let words = CofferCommand.unknownName(in: arguments) ?? ArgumentMistake.statement(in: arguments) {
            return refuse(words, arguments)
        }
        OutputFile.errors.writeLine(text.hasPrefix("Error: ") ? "coffer: error: " + text.dropFirst(7) : text)
        let message = CofferCommand.message(for: error)
        reportRefusal(message.isEmpty ? "Wrong usage." : message, arguments)
        return .usage
    }

    private static func refuse(_ message: String, _ arguments: [String]) -> ExitStatus {
        OutputFile.errors.writeLine("coffer: error: \(TextLayout.harmless(HiddenKeys.hiding(in: message)))")
        reportRefusal(message, arguments)
        return .usage
    }

    /// The arguments did not parse, and a program that asked for JSON gets it all the same.
    private static func reportRefusal(_ message: String, _ arguments: [String]) {
        guard arguments.prefix(while: { $0 != "--" }).contains("--json") else { return }
        let name = arguments.first { !$0.hasPrefix("-") } ?? ""
        let reporter = Reporter(command: name, style: OutputStyle(isJSON: true), errors: OutputFile(-1))
        reporter.failure(.usage(message))
        reporter.summary(.usage)
    }
}
