internal import ArgumentParser

/// How rows are printed.
struct RowOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How rows are printed: table by default.", valueName: "format"))
    var format: RowFormat?

    @Flag(help: "Leave out the names of the columns.")
    var noHeader = false

    @Option(help: ArgumentHelp("What stands for NULL in CSV: nothing by default.", valueName: "text"))
    var nullText: String?

    func validate() throws {
        if let nullText, format != .csv {
            throw ValidationError("--null-text '\(nullText)' is for --format csv.")
        }
        guard !(nullText ?? "").contains(where: { "\",\n\r\r\n".contains($0) }) else {
            throw ValidationError(
                "--null-text has no quotes, commas and ends of lines, which CSV has a meaning for.")
        }
    }

    /// Fails where two ways to print were asked for.
    func check(_ output: OutputOptions) throws {
        if output.json, let format {
            throw ValidationError(
                "--json prints each row in its own way: leave out --format \(format.rawValue).")
        }
    }

    var style: RowStyle { RowStyle(format: format ?? .table, hasHeader: !noHeader, nullText: nullText ?? "") }
}
