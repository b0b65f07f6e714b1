/// The bytecode that SQLite runs to execute a statement: https://www.sqlite.org/opcode.html
package struct EngineProgram {
    package struct Operation: Equatable {
        package let name: String
        package let first, second, third: Int
        /// The fifth operand, which contains flags.
        package let flags: Int
        /// True if the operation opens an index whose first column is in descending order.
        package let isDescending: Bool

        package init(
            _ name: String, _ first: Int, _ second: Int, _ third: Int, flags: Int = 0,
            isDescending: Bool = false
        ) {
            self.name = name
            (self.first, self.second, self.third) = (first, second, third)
            self.flags = flags
            self.isDescending = isDescending
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

    /// True if the program looks for a NULL in the first entry of an index that starts with a descending
    /// column, in which NULLs are last (``EngineMend/descendingNotIn``).
    ///
    /// To determine the result of `x IN (SELECT y ...)` for an x that is not found, SQLite reads the type of
    /// the first y of the index into a register, which is 0 if the index is empty.
    package var looksForNullAtTheWrongEnd: Bool {
        // The cursors of such indexes.
        var cursors: Set<Int> = []
        for (index, operation) in operations.enumerated() {
            switch operation.name {
            // The programs of triggers follow, with their own cursors.
            case "Init": cursors.removeAll()
            case "OpenRead":
                if operation.isDescending {
                    cursors.insert(operation.first)
                } else {
                    cursors.remove(operation.first)
                }
            case "Column" where index >= 2 && cursors.contains(operation.first):
                let (zero, rewind) = (operations[index - 2], operations[index - 1])
                if operation.second == 0, operation.flags & Operation.typeOnly != 0,
                    rewind.name == "Rewind", rewind.first == operation.first,
                    zero.name == "Integer", zero.first == 0, zero.second == operation.third
                {
                    return true
                }
            default: break
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
        try forEachRow(trusted: "EXPLAIN \(String(identifier: sql.utf8))") { row in
            let name = row.string(at: 1)
            operations.append(
                EngineProgram.Operation(
                    name, Int(row.int64(at: 2)), Int(row.int64(at: 3)), Int(row.int64(at: 4)),
                    flags: Int(row.int64(at: 6)),
                    isDescending: name == "OpenRead" && row.string(at: 5).isOfDescendingKey))
        }
        return EngineProgram(operations)
    }
}

extension String {
    /// True if this describes a key whose first column is descending, as in `k(2,-,)`: the number of columns,
    /// and for each a minus sign if it is descending, with the name of its collation.
    fileprivate var isOfDescendingKey: Bool {
        hasPrefix("k(") && drop { $0 != "," }.hasPrefix(",-")
    }
}
