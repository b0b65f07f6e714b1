internal import ArgumentParser

/// The format of imported rows.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case csv, tsv, json, jsonl

    var isJSON: Bool { self == .json || self == .jsonl }

    /// Creates a format from the extension of a file name. The default is CSV.
    init(ofFile path: String) {
        self = ImportFormat(extensionOf: path) ?? .csv
    }

    /// Returns nil for other extensions, such as the number of a version.
    init?(extensionOf path: String) {
        let found = ImportFormat.allCases.first { path.lowercased().hasSuffix(".\($0.rawValue)") }
        guard let found else { return nil }
        self = found
    }

    func reader(_ source: ByteSource, nullText: String, delimiter: ImportDelimiter? = nil)
        -> any RecordReader
    {
        switch self {
        case .csv: DelimitedReader(source, .csv, nullText: nullText, delimiter: delimiter?.byte)
        case .tsv: DelimitedReader(source, .tsv, nullText: nullText)
        case .json, .jsonl: JSONLinesReader(source)
        }
    }
}

/// The character between the fields of CSV.
struct ImportDelimiter: ExpressibleByArgument, Sendable {
    let byte: UInt8

    init?(argument: String) {
        let bytes = Array((argument == "tab" ? "\t" : argument).utf8)
        guard bytes.count == 1, bytes[0] < 0x80, ![0x0a, 0x0d, UInt8(ascii: "\"")].contains(bytes[0]) else {
            return nil
        }
        byte = bytes[0]
    }
}
