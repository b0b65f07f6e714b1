import CofferTestSupport
import Testing

@testable import Coffer

@Suite("The pages that exist")
struct PresentPagesTests {
    @Test("each page has one index, and the parts cover each page once")
    func places() {
        var random = SeededRandom("pages that are there")
        for _ in 0..<300 {
            let (pageCount, inFile) = (
                Int.random(in: 0...40, using: &random), Int.random(in: 0...40, using: &random)
            )
            let overlaid = Set(
                (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    Int.random(in: 1...45, using: &random)
                })
            let expected = (1..<46).filter { $0 <= pageCount && ($0 <= inFile || overlaid.contains($0)) }
            let pages = PresentPages(upTo: pageCount, countInFile: inFile, overlaid: overlaid)
            #expect(Array(pages.numbers) == expected && pages.count == expected.count)
            for number in -1...50 {
                #expect(
                    pages.index(of: number) == expected.firstIndex(of: number), "\(number) of \(expected)")
            }
            for most in [1, 3, 100] {
                let parts = Array(pages.parts(of: most))
                #expect(parts.flatMap(Array.init) == expected && parts.allSatisfy { $0.count <= most })
            }
        }
        let whole = PresentPages(upTo: 10)
        #expect(Array(whole.parts(of: 4)) == [1..<5, 5..<9, 9..<11])
        // Consecutive pages form one part, even if they come from a WAL.
        let cut = PresentPages(upTo: 1 << 32, countInFile: 3, overlaid: [4, 9, 10, 1 << 31])
        #expect(Array(cut.parts(of: 100)) == [1..<5, 9..<11, 1 << 31..<1 << 31 + 1])
    }
}
