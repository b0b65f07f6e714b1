import BenchKit

/// The options on the command line.
struct Options {
    /// The kind of measurement.
    enum Mode {
        case table, growth, tuning
    }

    var mode = Mode.table
    var rounds = 5
    var repetitions = 3
    var filter = ""
    var jsonFile: String?
    var chartFile: String?
    private var givenRows: Int?

    /// The number of rows in the table; in the growth mode, in the largest table. The file of the tuning mode
    /// has 200 MB.
    var rows: Int {
        if let givenRows { return givenRows }
        return switch mode {
        case .table: 100_000
        case .growth: 10_000_000
        case .tuning: 2_500_000
        }
    }

    init(arguments: ArraySlice<String>) throws {
        var rest = arguments
        func number(_ name: String) throws -> Int {
            guard let text = rest.popFirst(), let value = Int(text), value > 0 else {
                throw Mistake(description: "\(name) needs a number")
            }
            return value
        }
        func text(_ name: String) throws -> String {
            guard let value = rest.popFirst() else { throw Mistake(description: "\(name) needs a value") }
            return value
        }
        while let name = rest.popFirst() {
            switch name {
            case "--rows": givenRows = try number(name)
            case "--rounds": rounds = try number(name)
            case "--repetitions": repetitions = try number(name)
            case "--filter": filter = try text(name)
            case "--growth": mode = .growth
            case "--tuning": mode = .tuning
            case "--json": jsonFile = try text(name)
            case "--chart": chartFile = try text(name)
            default:
                throw Mistake(
                    description: """
                        unknown option \(name); there are --rows N, --rounds N, --repetitions N, --filter \
                        TEXT, --growth, --tuning, --json FILE, --chart FILE.svg
                        """)
            }
        }
    }
}
