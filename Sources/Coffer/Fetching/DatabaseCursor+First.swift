internal import SQLCipherBridge

extension DatabaseCursor {
    /// The first element, of a cursor that is given up afterwards.
    ///
    /// A statement that writes and returns rows is executed to its end, also when the element cannot be decoded: before its end it has
    /// neither committed nor told the observers, and the failure of a commit would go unnoticed.
    @inlinable
    func first<Value>(_ transform: (Element) throws -> Value) throws -> Value? {
        let result = Result { try next().map(transform) }
        if !_isDone, !_statement.isReadonly {
            try finish()
        }
        return try result.get()
    }

    /// Executes the statement to its end without looking at the rows that are left.
    @usableFromInline
    func finish() throws {
        while true {
            switch _statement.handle.step() {
            case EngineCode.row:
                continue
            case EngineCode.done:
                _isDone = true
                return try _statement.endExecution()
            case let code:
                _isDone = true
                try _statement.failExecution(code)
            }
        }
    }
}
