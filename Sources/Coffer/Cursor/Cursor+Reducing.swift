extension Cursor {
    /// Combines the remaining elements into one value.
    ///
    ///     let worth = try Int.fetchCursor(db, Item.select(\.worth)).reduce(0, +)
    ///
    /// - Parameters:
    ///   - initialResult: the first value to combine, and the result if there are no elements.
    ///   - nextPartialResult: combines the result so far with an element.
    /// - Throws: the error of the cursor or of the closure.
    @inlinable
    public func reduce<Result>(
        _ initialResult: Result,
        _ nextPartialResult: (Result, Element) throws -> Result
    ) throws -> Result {
        var result = initialResult
        while let element = try next() {
            result = try nextPartialResult(result, element)
        }
        return result
    }

    /// Combines the remaining elements into one value that is updated in place, which suits arrays and
    /// dictionaries.
    ///
    /// - Parameters:
    ///   - initialResult: the first value to update, and the result if there are no elements.
    ///   - updateAccumulatingResult: updates the result so far with an element.
    /// - Throws: the error of the cursor or of the closure.
    @inlinable
    public func reduce<Result>(
        into initialResult: Result,
        _ updateAccumulatingResult: (inout Result, Element) throws -> Void
    ) throws -> Result {
        var result = initialResult
        while let element = try next() {
            try updateAccumulatingResult(&result, element)
        }
        return result
    }
}

extension Cursor where Element: StringProtocol {
    /// Concatenates the remaining strings, with `separator` between them.
    ///
    ///     let list = try String.fetchCursor(db, Item.select(\.name)).joined(separator: ", ")  // ring, safe, candle
    ///
    /// - Throws: the error of the cursor.
    @inlinable
    public func joined(separator: String = "") throws -> String {
        guard let first = try next() else { return "" }
        var result = String(first)
        while let element = try next() {
            result.append(separator)
            result.append(contentsOf: element)
        }
        return result
    }
}
