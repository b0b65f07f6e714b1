internal import ArgumentParser

/// The format of imported rows.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case csv, tsv, jsonl

    /// Creates a format from the extension of a file name. The default is CSV.
    init(ofFile path: String) {
        self = ImportFormat.allCases.first { path.lowercased().hasSuffix(".\($0.rawValue)") } ?? .csv
    }

    func reader(_ source: ByteSource, nullText: String) -> any RecordReader {
        switch self {
        case .csv: DelimitedReader(source, .csv, nullText: nullText)
        case .tsv: DelimitedReader(source, .tsv, nullText: nullText)
        case .jsonl: JSONLinesReader(source)
        }
    }
}
