import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("The output of rows")
struct RowPrinterTests {
    @Test("has all rows of a finished statement while another file is still being read")
    func sharedOutput() throws {
        let directory = try TestDirectory()
        let path = directory.path("output")
        try directory.write([], to: "output")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let reporter = Reporter(
            command: "batch query", style: OutputStyle(isJSON: true),
            output: OutputFile(file.fileDescriptor), errors: OutputFile(-1))
        let (slow, other) = (try directory.makeQueue("a.db"), try directory.makeQueue("b.db"))
        try slow.read { db in
            db.add(
                function: DatabaseFunction("written", argumentCount: 0) { _ in
                    try other.read { db in
                        let printer = RowPrinter(RowStyle(), reporter: reporter, path: "b.db")
                        try printer.print(db.makeStatement(sql: "SELECT 'of b'"), [])
                    }
                    return try String(contentsOfFile: path, encoding: .utf8)
                })
            let printer = RowPrinter(RowStyle(), reporter: reporter, path: "a.db")
            try printer.print(
                db.makeStatement(sql: "SELECT 'of a' UNION ALL SELECT instr(written(), 'of b') > 0"), [])
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let values = text.split(separator: "\n").map { $0.contains("[1]") }
        #expect(values == [false, false, true], "\(text)")
    }

    @Test("is written when many bytes are held, and otherwise with the next row after a moment")
    func heldRows() {
        let start = ContinuousClock.now
        var rows = HeldRows()
        var isTime = [rows.add([UInt8](repeating: 1, count: 100), at: start)]
        isTime.append(rows.add([UInt8](repeating: 2, count: 1 << 16), at: start))
        #expect(rows.count == 2)
        rows.removeAll()
        isTime.append(rows.add([3], at: start))
        isTime.append(rows.add([4], at: .now + .seconds(1)))
        #expect(isTime == [false, true, false, true] && rows.bytes == [3, 4])
    }
}
