extension Cursor {
    /// Combines the remaining elements into one value.
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

    /// Combines the remaining elements into one value that is updated in place, which suits arrays and dictionaries.
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
