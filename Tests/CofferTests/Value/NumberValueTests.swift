import Foundation
import Testing

@testable import Coffer

@Suite("Numbers as values")
struct NumberValueTests {
    /// Checks both ways to read a column: through `DatabaseValue`, and directly.
    private func expect<Value: DatabaseValueConvertible & StatementColumnConvertible & Equatable>(
        _ expression: String, is expected: Value?, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(
            Value.fromDatabaseValue(try ColumnProbe.databaseValue(expression)) == expected,
            sourceLocation: sourceLocation)
        #expect(try ColumnProbe.read(Value.self, expression) == expected, sourceLocation: sourceLocation)
    }

    private func expectRoundTrip<Value: DatabaseValueConvertible & StatementColumnConvertible & Equatable>(
        _ values: [Value], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for value in values {
            #expect(try ColumnProbe.roundTrip(value) == value, sourceLocation: sourceLocation)
            #expect(
                try ColumnProbe.stored(value).storage == value.databaseValue.storage,
                sourceLocation: sourceLocation)
            #expect(Value.fromDatabaseValue(value.databaseValue) == value, sourceLocation: sourceLocation)
        }
    }

    @Test("all integers survive a round trip, extremes included")
    func integerRoundTrips() throws {
        try expectRoundTrip([Int8.min, -1, 0, .max])
        try expectRoundTrip([Int16.min, -1, 0, .max])
        try expectRoundTrip([Int32.min, -1, 0, .max])
        try expectRoundTrip([Int64.min, -1, 0, .max])
        try expectRoundTrip([Int.min, -1, 0, .max])
        try expectRoundTrip([UInt8.min, .max])
        try expectRoundTrip([UInt16.min, .max])
        try expectRoundTrip([UInt32.min, .max])
        try expectRoundTrip([UInt64.min, UInt64(Int64.max)])
        try expectRoundTrip([UInt.min, UInt(Int.max)])
    }

    @Test("an integer that does not fit is not converted")
    func integerOverflow() throws {
        try expect("128", is: Int8?.none)
        try expect("-129", is: Int8?.none)
        try expect("32768", is: Int16?.none)
        try expect("2147483648", is: Int32?.none)
        try expect("-2147483649", is: Int32?.none)
        try expect("-1", is: UInt8?.none)
        try expect("256", is: UInt8?.none)
        try expect("65536", is: UInt16?.none)
        try expect("4294967296", is: UInt32?.none)
        try expect("-1", is: UInt64?.none)
        try expect("-1", is: UInt?.none)
    }

    @Test("a floating-point number is truncated, and not converted when out of range")
    func integersFromDoubles() throws {
        try expect("1.0", is: Int64(1))
        try expect("1.9", is: Int64(1))
        try expect("-1.9", is: Int(-1))
        try expect("255.9", is: UInt8(255))
        try expect("256.0", is: UInt8?.none)
        try expect("1e300", is: Int64?.none)
        try expect("-1e300", is: Int64?.none)
        try expect("9223372036854775808.0", is: Int64?.none)
        try expect("-9223372036854775808.0", is: Int64.min)
        try expect("9223372036854774784.0", is: Int64(9_223_372_036_854_774_784))
        try expect("1e999", is: Int64?.none)
        try expect("-1e999", is: Int?.none)
    }

    @Test("NULL is not a number")
    func null() throws {
        try expect("NULL", is: Int?.none)
        try expect("NULL", is: UInt8?.none)
        try expect("NULL", is: Bool?.none)
        try expect("NULL", is: Double?.none)
        try expect("NULL", is: Float?.none)
    }

    @Test("text is read as a number only by SQLite's own conversion")
    func numbersFromText() throws {
        #expect(Int.fromDatabaseValue("20 small cigars".databaseValue) == nil)
        #expect(try ColumnProbe.read(Int.self, "'20 small cigars'") == 20)
        #expect(Double.fromDatabaseValue("1.5".databaseValue) == nil)
        #expect(try ColumnProbe.read(Double.self, "'1.5'") == 1.5)
        #expect(Int.fromDatabaseValue(Data("1".utf8).databaseValue) == nil)
        #expect(Bool.fromDatabaseValue("1".databaseValue) == nil)
        #expect(try ColumnProbe.read(Int64.self, "'9223372036854775807'") == .max)
        #expect(try ColumnProbe.read(Int64.self, "'9223372036854775808'") == nil)
        #expect(try ColumnProbe.read(Int64.self, "'-99999999999999999999'") == nil)
    }

    @Test("only zero is false")
    func booleans() throws {
        try expect("0", is: false)
        try expect("0.0", is: false)
        try expect("1", is: true)
        try expect("-7", is: true)
        try expect("0.5", is: true)
        try expect("1e-300", is: true)
        try expectRoundTrip([true, false])
        #expect(true.databaseValue.storage == .int64(1))
    }

    @Test("floating-point numbers survive a round trip")
    func floatingPoint() throws {
        try expectRoundTrip(
            [0, -0.5, 0.1, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity]
                as [Double])
        try expectRoundTrip(
            [0, -0.5, 0.1, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity] as [Float])
        try expectRoundTrip([0, 0.1, -.greatestFiniteMagnitude] as [CGFloat])
        try expect("3", is: 3.0)
        try expect("3", is: Float(3))
        try expect("9007199254740993", is: 9_007_199_254_740_992.0)
        #expect(Double.fromDatabaseValue(Data().databaseValue) == nil)
    }

    @Test("NaN is stored as NULL")
    func notANumber() throws {
        #expect(try ColumnProbe.stored(Double.nan).isNull)
        #expect(try ColumnProbe.stored(Double.nan.databaseValue).isNull)
    }

    @Test("storing an unsigned integer beyond Int64.max is a fatal error")
    func unsignedTrap() async {
        await #expect(processExitsWith: .failure) { _ = UInt64.max.databaseValue }
        await #expect(processExitsWith: .failure) { _ = UInt.max.databaseValue }
    }
}
