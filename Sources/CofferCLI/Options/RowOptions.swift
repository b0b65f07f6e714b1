internal import ArgumentParser

/// The options for printing rows.
struct RowOptions: ParsableArguments {
    @Option(help: .value("format", "The format of rows: table by default."))
    var format: RowFormat?

    @Flag(help: "Omit the column names.")
    var noHeader = false

    @Option(help: .value("text", "The text for NULL in CSV: empty by default."))
    var nullText: String?

    func validate() throws {
        if let nullText, format != .csv {
            throw ValidationError("--null-text '\(nullText)' is for --format csv.")
        }
        if let objection = nullText.flatMap(RowStyle.objection) {
            throw ValidationError("--null-text \(objection)")
        }
    }

    /// Throws if two conflicting formats were requested.
    func check(_ output: OutputOptions) throws {
        if output.json, let format {
            throw ValidationError(
                "--json has its own format for rows. Omit --format \(format.rawValue).")
        }
    }

    var style: RowStyle { RowStyle(format: format ?? .table, hasHeader: !noHeader, nullText: nullText ?? "") }
}
