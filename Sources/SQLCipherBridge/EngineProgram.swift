/// The bytecode that SQLite runs to execute a statement: https://www.sqlite.org/opcode.html
package struct EngineProgram {
    package struct Operation: Equatable {
        package let name: String
        package let first, second, third: Int
        /// The fifth operand, which contains flags.
        package let flags: Int

        package init(_ name: String, _ first: Int, _ second: Int, _ third: Int, flags: Int = 0) {
            self.name = name
            (self.first, self.second, self.third) = (first, second, third)
            self.flags = flags
        }
    }

    package let operations: [Operation]

    package init(_ operations: [Operation]) { self.operations = operations }

    /// True if a record includes a column of which only the type was read (``EngineMend/storedColumns``).
    ///
    /// For `IS NULL` and `IS NOT NULL`, SQLite before 3.49.2 sets the type-only flag on the last operation,
    /// even if that operation reads the complete column to store it again.
    package var storesColumnsOfWhichOnlyTheTypeIsRead: Bool {
        // The registers with such a value.
        var registers: Set<Int> = []
        for operation in operations {
            // The programs of triggers follow, with their own registers.
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
    /// `OPFLAG_TYPEOFARG`: the result is only used as the argument of `typeof()`.
    fileprivate static let typeOnly = 0x80

    /// The registers whose values are copied to the registers that start at the second operand; nil for other
    /// operations.
    fileprivate var copiedRegisters: Range<Int>? {
        switch name {
        case "SCopy", "IntCopy": first..<first + 1
        case "Copy": first..<first + third + 1
        case "Move": first..<first + third
        default: nil
        }
    }

    /// The registers that receive a new value. Empty for all operations that are not listed, so that a value
    /// counts as unchanged.
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
    /// Returns the bytecode of a statement and of all triggers that it fires.
    ///
    /// - Parameter sql: a single valid statement. It is not executed.
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
