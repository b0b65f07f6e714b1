import SQLCipherBridge
import Testing

@Suite("The program of a statement")
struct EngineProgramTests {
    private typealias Operation = EngineProgram.Operation

    private let typeOnly = Operation("Column", 0, 1, 4, flags: 0x80)
    private let record = Operation("MakeRecord", 3, 2, 1)

    @Test("is recognized if it stores a column of which only the type was read")
    func stored() {
        let column = Operation("Column", 0, 1, 4)
        let programs: [([Operation], Bool)] = [
            ([typeOnly, record], true),
            ([column, record], false),
            ([record, typeOnly], false),
            // The value is used before the record, or another one is stored in its place.
            ([typeOnly, Operation("IsNull", 4, 9, 0), record], true),
            ([typeOnly, Operation("Integer", 1, 4, 0), record], false),
            ([typeOnly, column, record], false),
            // A jump to the address 4 does not write to the register 4.
            ([typeOnly, Operation("Goto", 0, 4, 0), record], true),
            ([Operation("MakeRecord", 5, 2, 1)], false),
        ]
        for (index, (operations, isFound)) in programs.enumerated() {
            let program = EngineProgram(operations)
            #expect(program.storesColumnsOfWhichOnlyTheTypeIsRead == isFound, "\(index)")
        }
    }

    @Test("is recognized even if the column passes through register copies")
    func copies() {
        let target = Operation("MakeRecord", 20, 3, 1)
        for copy in [Operation("SCopy", 4, 21, 0), Operation("Copy", 3, 20, 2), Operation("Move", 4, 22, 1)] {
            #expect(EngineProgram([typeOnly, copy, target]).storesColumnsOfWhichOnlyTheTypeIsRead)
            #expect(!EngineProgram([copy, target]).storesColumnsOfWhichOnlyTheTypeIsRead)
        }
        // Another value is copied over it.
        let over = Operation("SCopy", 9, 4, 0)
        #expect(!EngineProgram([typeOnly, over, record]).storesColumnsOfWhichOnlyTheTypeIsRead)
    }

    @Test("does not share registers with the programs of its triggers")
    func triggers() {
        let program = EngineProgram([typeOnly, Operation("Init", 0, 1, 0), record])
        #expect(!program.storesColumnsOfWhichOnlyTheTypeIsRead)
    }

    /// Operations that look for a NULL in the first entry of an index.
    private func search(isDescending: Bool) -> [Operation] {
        [
            Operation("OpenRead", 3, 7, 0, isDescending: isDescending), Operation("Integer", 0, 5, 0),
            Operation("Rewind", 3, 9, 0), Operation("Column", 3, 0, 5, flags: 0x80),
        ]
    }

    @Test("is recognized if it looks for NULL at the wrong end of a descending index")
    func wrongEnd() {
        let program = search(isDescending: true)
        #expect(EngineProgram(program).looksForNullAtTheWrongEnd)
        #expect(!EngineProgram(search(isDescending: false)).looksForNullAtTheWrongEnd)
        #expect(!EngineProgram(Array(program.dropFirst())).looksForNullAtTheWrongEnd)
        let replacements: [(Int, Operation)] = [
            (1, Operation("Integer", 1, 5, 0)), (1, Operation("Integer", 0, 6, 0)),
            (1, Operation("Null", 0, 5, 0)),
            // Engines without the fault start at the other end.
            (2, Operation("Last", 3, 9, 0)), (2, Operation("Rewind", 4, 9, 0)),
            (3, Operation("Column", 3, 1, 5, flags: 0x80)), (3, Operation("Column", 3, 0, 5)),
        ]
        for (index, operation) in replacements {
            var other = program
            other[index] = operation
            #expect(!EngineProgram(other).looksForNullAtTheWrongEnd, "\(operation)")
        }
    }

    @Test("can reuse cursors, and does not share them with its triggers")
    func cursors() {
        let (open, rest) = (search(isDescending: true)[0], search(isDescending: true).dropFirst())
        #expect(!EngineProgram([open, Operation("Init", 0, 1, 0)] + rest).looksForNullAtTheWrongEnd)
        #expect(!EngineProgram([open, Operation("OpenRead", 3, 8, 0)] + rest).looksForNullAtTheWrongEnd)
        #expect(EngineProgram([open, Operation("OpenRead", 4, 8, 0)] + rest).looksForNullAtTheWrongEnd)
    }

    @Test("contains the sort order of the first column of each index that it opens")
    func order() throws {
        let connection = try EngineConnection(path: ":memory:", flags: [.readWrite, .create])
        let handle = connection.handle
        try handle.execute("CREATE TABLE t (x, y); CREATE INDEX down ON t (x DESC, y)")
        try handle.execute("CREATE TABLE u (x, y); CREATE INDEX up ON u (x, y DESC)")
        for (table, isDescending) in [("t", true), ("u", false)] {
            let program = try handle.program(ofStatement: "SELECT x FROM \(table) ORDER BY x, y")
            #expect(program.operations.contains(where: \.isDescending) == isDescending)
        }
    }
}
