import Coffer
import CofferTestSupport
import Foundation

/// Measures the cost of a token with the engine's tokenizers and with tokenizers written in Swift:
/// `CofferTestWorker tokens`.
enum TokenCost {
    private final class Wrapper: FTS5WrapperTokenizer {
        static let name = "wrapper"
        let wrappedTokenizer: any FTS5Tokenizer

        init(db: Database, arguments: [String]) throws {
            wrappedTokenizer = try db.makeTokenizer(.unicode61())
        }

        func accept(
            token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
            tokenCallback: FTS5WrapperTokenCallback
        ) throws {
            try tokenCallback(token, flags)
        }
    }

    /// Splits at spaces, working on the bytes of the text.
    private final class Spaces: FTS5CustomTokenizer {
        static let name = "spaces"

        init(db: Database, arguments: [String]) {}

        func tokenize(
            context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
            nText: CInt,
            tokenCallback: @escaping FTS5TokenCallback
        ) -> CInt {
            guard let text = unsafe pText else { return 0 }
            var start: CInt = 0
            for end in 0...nText where unsafe end == nText || text[Int(end)] == 32 {
                if end > start {
                    let code = unsafe tokenCallback(context, 0, text + Int(start), end - start, start, end)
                    if code != 0 { return code }
                }
                start = end + 1
            }
            return 0
        }
    }

    static func run() throws {
        var random = SeededRandom(seed: 16, "words")
        // A million tokens from 10,000 distinct words, in texts of 100 words.
        let texts = (0..<10_000).map { _ in
            (0..<100).map { _ in "word\(Int.random(in: 0..<10_000, using: &random))" }.joined(separator: " ")
        }
        try DatabaseQueue().inDatabase { db in
            db.add(tokenizer: Wrapper.self)
            db.add(tokenizer: Spaces.self)
            for descriptor in [
                FTS5TokenizerDescriptor.unicode61(), Spaces.tokenizerDescriptor(),
                Wrapper.tokenizerDescriptor(),
            ] {
                let name = descriptor.components[0]
                try db.create(virtualTable: name, using: FTS5()) { t in
                    t.tokenizer = descriptor
                    t.content = ""
                    t.column("body")
                }
                let tokenizer = try db.makeTokenizer(descriptor)
                var residentSizes: [Int] = []
                let clock = ContinuousClock()
                let alone = clock.measure {
                    for (index, text) in texts.enumerated() {
                        count(tokenizer, text)
                        if index % 2_500 == 0 { residentSizes.append(residentKibibytes()) }
                    }
                }
                residentSizes.append(residentKibibytes())
                let indexing = try clock.measure {
                    try db.inTransaction {
                        for text in texts {
                            try db.execute(sql: "INSERT INTO \(name)(body) VALUES (?)", arguments: [text])
                        }
                        return .commit
                    }
                }
                print(
                    name, "a token alone:", alone / 1_000_000, "in an index:", indexing / 1_000_000,
                    "resident KiB:", residentSizes)
            }
        }
    }

    private static func count(_ tokenizer: any FTS5Tokenizer, _ text: String) {
        var (text, count) = (text, 0)
        let code = text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                unsafe withUnsafeMutablePointer(to: &count) { count in
                    unsafe tokenizer.tokenize(
                        context: count, tokenization: .document, pText: bytes.baseAddress,
                        nText: CInt(bytes.count)
                    ) { context, _, _, _, _, _ in
                        unsafe context?.assumingMemoryBound(to: Int.self).pointee += 1
                        return 0
                    }
                }
            }
        }
        precondition(code == 0 && count == 100)
    }

    private static func residentKibibytes() -> Int {
        let fields =
            (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4 : 0
    }
}
