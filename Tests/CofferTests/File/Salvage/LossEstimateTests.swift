import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("The estimated number of rows that a damaged database has lost")
struct LossEstimateTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// With small pages, the trees of few rows have several levels.
    private static let pageSize = 1024

    private static let cipher: CipherSettings = {
        var cipher = CipherSettings()
        cipher.pageSize = pageSize
        return cipher
    }()

    /// Makes a table with row IDs from 1 on, whose texts have the given lengths.
    ///
    /// - Returns: the pages of its b-tree below the root, which is page 2, in the order of their row IDs.
    private func make(_ rowID: String, lengths: [Int]) throws -> (interiors: [Int], leaves: [Int]) {
        var configuration = Configuration()
        configuration.key = Keys.old
        configuration.cipher = LossEstimateTests.cipher
        let queue = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (\(rowID), text TEXT)")
            for length in lengths {
                let text = String(repeating: "x", count: length)
                try db.execute(sql: "INSERT INTO t (text) VALUES (?)", arguments: [text])
            }
        }
        try queue.close()
        let protection = try FileProtection.encrypted(Keys.old, cipher: LossEstimateTests.cipher)
        let pages = try SalvagedPages(
            PageFile(ReadFile(FileDescriptor.open(directory.path("a.db"))), protection))
        let isOfSequences = rowID.contains("AUTOINCREMENT")
        let numbers = Array((isOfSequences ? 4 : 3)...pages.pageCount)
        return (
            try numbers.filter { try pages.tree($0)?.kind == .interiorOfTable },
            try numbers.filter { try pages.tree($0)?.kind == .leafOfTable }
        )
    }

    /// Damages pages, and returns the result of a salvage about the table.
    private func salvage(without pages: [Int]) throws -> DatabaseFile.Salvage.Table {
        var bytes = try directory.bytes(of: "a.db")
        for page in pages { bytes[(page - 1) * LossEstimateTests.pageSize + 100] ^= 1 }
        try directory.write(bytes, to: "damaged.db")
        var options = DatabaseFile.SalvageOptions()
        options.cipher = LossEstimateTests.cipher
        let salvage = try DatabaseFile(path: directory.path("damaged.db")).salvage(
            key: Keys.old, to: directory.path("new.db"), options: options)
        try FileManager.default.removeItem(atPath: directory.path("new.db"))
        #expect(salvage.damagedPages == pages.sorted(), "\(salvage)")
        return try #require(salvage.tables.first { $0.name == "t" })
    }

    @Test("without gaps, all row IDs of a missing page count as lost, however full other pages are")
    func noGaps() throws {
        let lengths = (1...300).map { 40...150 ~= $0 ? 1 : 60 }
        let leaves = try make("id INTEGER PRIMARY KEY", lengths: lengths).leaves.dropFirst().dropLast()
        #expect(leaves.count > 10)
        for remainder in 0...1 {
            let table = try salvage(without: leaves.filter { $0 % 2 == remainder })
            #expect(
                table.missingPageCount >= 5 && table.estimatedLostRowCount == 300 - table.rowCount, "\(table)"
            )
        }
    }

    @Test("row IDs that a table with AUTOINCREMENT never used do not count as lost")
    func lastRowID() throws {
        let lengths = (1...100).map { $0 == 100 ? 850 : 60 }
        let leaves = try make("id INTEGER PRIMARY KEY AUTOINCREMENT", lengths: lengths).leaves
        let table = try salvage(without: [#require(leaves.last)])
        #expect(table.missingRowIDs == [100 ... .max], "\(table)")
        #expect(table.rowCount == 99 && table.estimatedLostRowCount == 1, "\(table)")
    }

    @Test("rows below a missing interior page that are found on other pages are not lost")
    func foundRows() throws {
        let (interiors, leaves) = try make(
            "id INTEGER PRIMARY KEY", lengths: [Int](repeating: 280, count: 400))
        #expect(interiors.count == 2 && leaves.count > 100)
        for interior in [2] + interiors {
            let table = try salvage(without: [interior])
            #expect(table.rowCount == 400 && table.missingPageCount == 1, "\(table)")
            #expect(table.estimatedLostRowCount == 0, "\(table)")
        }
        for (interior, leaf) in [
            (interiors[0], leaves[5]), (interiors[0], leaves[leaves.count - 5]), (interiors[1], leaves[5]),
        ] {
            let table = try salvage(without: [interior, leaf])
            let lost = 400 - table.rowCount
            #expect(lost > 0 && table.estimatedLostRowCount == lost, "\(table)")
        }
    }
}
