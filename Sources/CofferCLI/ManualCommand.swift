internal import ArgumentParser
internal import Foundation

/// Writes the man pages, for packagers, from the same descriptions as the help.
struct ManualCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "generate-manual", abstract: "Write the man pages to a directory.",
        shouldDisplay: false)

    @Argument(help: "An existing directory.", completion: .directory)
    var directory: String

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var readsDefaults: Bool { false }

    func run(in session: Session) throws -> ExitStatus {
        for command in try CommandDescription.root().all {
            let page = ManualPage(command: command, version: EngineVersions.coffer)
            let path = "\(directory)/\(page.fileName)"
            do {
                try page.text.write(toFile: path, atomically: false, encoding: .utf8)
            } catch {
                throw Failure(.outputExists, "output", "'\(path)' cannot be written.")
            }
        }
        return .done
    }
}

extension CommandDescription {
    /// Returns the description of the root command.
    static func root() throws -> CommandDescription { try CommandDescription(of: CofferCommand.self) }

    /// Creates the description of a command, or of a group of options.
    init(of arguments: any ParsableArguments.Type) throws {
        struct Dump: Decodable { let command: CommandDescription }
        self = try JSONDecoder().decode(Dump.self, from: Data(arguments._dumpHelp().utf8)).command
    }
}
