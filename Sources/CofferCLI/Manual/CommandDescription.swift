/// ArgumentParser's description of a command, from which it also generates help and completions.
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        let kind: String
        let shouldDisplay: Bool
        let sectionTitle: String?
        let names: [Name]?
        let valueName: String?
        let abstract: String?
        let defaultValue: String?
        let allValues: [String]?
        let isRepeating: Bool

        /// The argument as it is typed.
        var label: String {
            let value = "<\(valueName ?? "value")>"
            let names = (names ?? []).map(\.text).joined(separator: ", ")
            return kind == "positional" ? value : kind == "flag" ? names : "\(names) \(value)"
        }
    }

    let commandName: String
    let superCommands: [String]?
    let shouldDisplay: Bool
    let abstract: String?
    let discussion: String?
    let arguments: [Argument]?
    let subcommands: [CommandDescription]?

    /// The words that invoke the command.
    var fullName: String { ((superCommands ?? []) + [commandName]).joined(separator: " ") }

    /// This command and all visible commands below it.
    var all: [CommandDescription] {
        [self] + (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }.flatMap(\.all)
    }
}
