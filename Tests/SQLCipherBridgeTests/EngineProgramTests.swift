import SQLCipherBridge
import Testing

@Suite("The program of a statement")
struct EngineProgramTests {
    private typealias Operation = EngineProgram.Operation

    private let typeOnly = Operation("Column", 0, 1, 4, flags: 0x80)
    private let record = Operation("MakeRecord", 3, 2, 1)

    @Test("stores a column of which only the type is read")
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

    @Test("is followed through copies")
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

    @Test("has registers of its own, as the programs of its triggers have")
    func triggers() {
        let program = EngineProgram([typeOnly, Operation("Init", 0, 1, 0), record])
        #expect(!program.storesColumnsOfWhichOnlyTheTypeIsRead)
    }
}
