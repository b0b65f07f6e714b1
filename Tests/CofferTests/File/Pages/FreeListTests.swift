import Testing

@testable import Coffer

@Suite("The list of free pages")
struct FreeListTests {
    /// Returns the leaves of a free list with pages of 512 bytes. Page 1 names the first trunk, and each
    /// trunk names the next one and its leaves.
    private func leaves(pageCount: Int, _ trunks: [Int: (next: UInt32, leaves: [UInt32])]) -> Set<Int> {
        FreeList.leaves(pageCount: pageCount) { number in
            var words = [UInt32](repeating: 0, count: 128)
            if number == 1 { words[8] = 2 }
            if let trunk = trunks[number] {
                words[0] = trunk.next
                words[1] = UInt32(trunk.leaves.count)
                words.replaceSubrange(2..<2 + trunk.leaves.count, with: trunk.leaves)
            }
            return words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
        }
    }

    @Test("the leaves of all trunks are free")
    func trunks() {
        #expect(leaves(pageCount: 9, [2: (5, [3, 4]), 5: (0, [9])]) == [3, 4, 9])
    }

    @Test("a forged list yields only existing pages, and terminates")
    func forged() {
        #expect(leaves(pageCount: 9, [2: (2, [3, 10, .max])]) == [3])
        #expect(leaves(pageCount: 9, [2: (3, [4]), 3: (2, [5, 1000])]) == [4, 5])
        #expect(leaves(pageCount: 9, [2: (77, [8])]) == [8])
    }
}
