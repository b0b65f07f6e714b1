/// What the engine does to execute a statement: https://www.sqlite.org/opcode.html
package struct EngineProgram {
    package struct Operation: Equatable {
        package let name: String
        package let first, second, third: Int
        /// The fifth operand, which has flags.
        package let flags: Int

        package init(_ name: String, _ first: Int, _ second: Int, _ third: Int, flags: Int = 0) {
            self.name = name
            (self.first, self.second, self.third) = (first, second, third)
            self.flags = flags
        }
    }

    package let operations: [Operation]

    package init(_ operations: [Operation]) { self.operations = operations }

    /// Whether a record is made of a column of which only the type was read
    /// (``EngineMend/storedColumns``).
    ///
    /// Of `IS NULL` and `IS NOT NULL`, SQLite before 3.49.2 takes the flag to an operation that has read the
    /// whole column, if that is the last one: the value that is to be stored again.
    package var storesColumnsOfWhichOnlyTheTypeIsRead: Bool {
        // The registers that have such a value.
        var registers: Set<Int> = []
        for operation in operations {
            // Those of triggers follow, with registers of their own.
            if operation.name == "Init" { registers.removeAll() }
            if operation.name == "MakeRecord" {
                let record = operation.first..<operation.first + operation.second
                if registers.contains(where: record.contains) { return true }
            }
            if operation.name == "Column", operation.flags & Operation.typeOnly != 0 {
                registers.insert(operation.third)
            } else if let copied = operation.copiedRegisters {
                let offset = operation.second - operation.first
                let isOnlyType = copied.filter(registers.contains).map { $0 + offset }
                registers.subtract(copied.map { $0 + offset })
                registers.formUnion(isOnlyType)
            } else {
                registers.subtract(operation.results)
            }
        }
        return false
    }
}

extension EngineProgram.Operation {
    /// `OPFLAG_TYPEOFARG`: the result is used as the argument of `typeof()` only.
    fileprivate static let typeOnly = 0x80

    /// The registers whose values are copied to as many from the second operand on; nil for other operations.
    fileprivate var copiedRegisters: Range<Int>? {
        switch name {
        case "SCopy", "IntCopy": first..<first + 1
        case "Copy": first..<first + third + 1
        case "Move": first..<first + third
        default: nil
        }
    }

    /// The registers that get a new value, of operations that make values. Others have none here, so that a
    /// value counts as still there.
    fileprivate var results: Range<Int> {
        switch name {
        case "Column", "Function", "PureFunc", "Add", "Subtract", "Multiply", "Divide", "Remainder", "Concat",
            "MakeRecord", "VColumn":
            third..<third + 1
        case "Integer", "Int64", "Real", "String8", "Blob", "Variable", "Rowid", "Param":
            second..<second + 1
        default: 0..<0
        }
    }
}

extension ConnectionHandle {
    /// What the engine would do to execute a statement, and all triggers that it fires.
    ///
    /// - Parameter sql: one statement that was compiled; it is not executed.
    package func program(ofStatement sql: String) throws -> EngineProgram {
        var operations: [EngineProgram.Operation] = []
        try forEachRow(trusted: "EXPLAIN \(sql)") { row in
            operations.append(
                EngineProgram.Operation(
                    row.string(at: 1), Int(row.int64(at: 2)), Int(row.int64(at: 3)), Int(row.int64(at: 4)),
                    flags: Int(row.int64(at: 6))))
        }
        return EngineProgram(operations)
    }
}
