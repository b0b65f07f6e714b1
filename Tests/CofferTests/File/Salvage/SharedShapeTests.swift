import Testing

@testable import Coffer

@Suite("The common shape of the records of a page")
struct SharedShapeTests {
    /// Makes a record whose header declares these types and whose values are zeros.
    private func record(_ types: [UInt8], isWhole: Bool = true, cutting cut: Int = 0) throws -> StoredRecord {
        let size = types.reduce(0) { size, type in
            size + (type < 5 ? Int(type) : type == 7 ? 8 : type >= 12 ? (Int(type) - 12) / 2 : 0)
        }
        let bytes = [UInt8(types.count + 1)] + types + [UInt8](repeating: 0, count: size - cut)
        return try #require(StoredRecord(bytes[...], isWhole: isWhole))
    }

    @Test("kinds are collected per column, and counts as a minimum and a maximum")
    func kinds() throws {
        let shape = try SharedShape([record([0, 1, 13]), record([1, 7]), record([0, 14, 0, 9])])
        #expect(shape.kinds == [[.null, .number], [.number, .bytes], [.null, .bytes], [.number]])
        #expect(shape.leastCount == 2 && shape.mostCount == 4 && !shape.isAnyCut)
    }

    @Test("a single truncated record marks the shape as cut")
    func cut() throws {
        let shape = try SharedShape([record([1, 1]), record([1, 20], isWhole: false, cutting: 2)])
        #expect(shape.isAnyCut && shape.leastCount == 1 && shape.mostCount == 2)
    }
}
