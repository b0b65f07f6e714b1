internal import SQLCipherBridge

/// Proves that two encrypted files have the same content, page by page. It does not look at codes, which the engine checks: ``PageProof``.
struct PageComparison {
    /// Nobody writes to them.
    let source: PageFile
    let copy: PageFile
    let path: String

    /// Reads both files once, and returns the digest of their content, as hexadecimal digits.
    ///
    /// - Throws: ``DatabaseFileError/Reason/damaged(pages:)`` for the source, ``DatabaseFileError/Reason/copyRejected(_:)`` for the copy.
    func run(progress: ProgressReport) throws -> String {
        let total = source.pageCount
        guard copy.pageSize == source.pageSize, copy.pageCount == total, source.excess == 0, copy.excess == 0 else {
            throw DatabaseFileError(.copyRejected("it has \(copy.pageCount) pages instead of \(total)"), path: path)
        }
        let digest = try ContentDigest()
        var mine = PageRun(source)
        var theirs = PageRun(copy)
        var left = [UInt8](repeating: 0, count: source.pageSize)
        var right = left
        var zeroPages: [Int] = []
        for pages in source.parts(of: 1 << 18) {
            try progress(.verifying, pages.lowerBound - 1, of: total)
            try mine.read(pages)
            try theirs.read(pages)
            for number in pages where number != source.lockPage {
                // Their codes were checked when they were copied; pages of zeros have none.
                if mine.isZero(number) { zeroPages.append(number) }
                try mine.decrypt(number, into: &left)
                try theirs.decrypt(number, into: &right)
                if number == 1 {
                    // The salt, or the text in its place.
                    for index in 0..<16 { (left[index], right[index]) = (0, 0) }
                }
                guard left.span.isEqual(to: right.span) else {
                    throw DatabaseFileError(.copyRejected("its page \(number) has another content"), path: path)
                }
                if number == 1 { DatabaseHeader.maskCounters(&left) }
                try digest.update(left.span)
            }
        }
        try progress(.verifying, total, of: total)
        let damaged = try source.used(zeroPages)
        guard damaged.isEmpty else { throw DatabaseFileError(.damaged(pages: damaged), path: path) }
        return try digest.finish().hexadecimal
    }
}
