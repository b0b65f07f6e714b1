import CofferTestSupport
import Foundation
import Testing

@Suite("A sample application")
struct AddressBookTests {
    /// The report of GRDB 7.10 for the same sources: see `Tests/Benchmarks/compare`.
    private static func expectedReport() throws -> [String] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(
            contentsOf: tests.appendingPathComponent("Benchmarks/address-book.txt"), encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }

    @Test("an application written for GRDB produces the same report with Coffer", arguments: Access.allCases)
    func report(access: Access) throws {
        try withTestDirectory { directory in
            var lines: [String] = []
            try AddressBook(writer: directory.make(access)) { lines.append($0) }.run()
            let expected = try Self.expectedReport()
            for (line, expectedLine) in zip(lines, expected) { #expect(line == expectedLine) }
            #expect(lines.count == expected.count)
        }
    }
}
