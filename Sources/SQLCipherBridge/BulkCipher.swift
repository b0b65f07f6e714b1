package import KeyMaterial

/// A cipher that opens consecutive pages: in vector lanes if the processor has them, otherwise like
/// ``PageCipher``.
///
/// Results of lanes are never final. Libcrypto checks one random page of each sixteen, and each page that is
/// not authentic. If its result differs, an error is thrown, and the process continues without lanes. An
/// instance is used by one thread at a time.
package final class BulkCipher {
    /// Opens single pages.
    package let single: PageCipher
    private let lanes: LaneKeys?

    package init(
        key: borrowing SecretBytes, salt: [UInt8], layout: PageCipher.Layout, lanes: PageLanes = .current
    ) throws(CryptographyFailure) {
        single = try PageCipher(key: key, salt: salt, layout: layout)
        self.lanes = try LaneKeys(key: key, salt: salt, layout: layout, lanes)
    }

    /// Creates a cipher whose lanes may have other keys, for tests.
    init(_ single: PageCipher, _ lanes: LaneKeys) { (self.single, self.lanes) = (single, lanes) }

    /// Returns the numbers of the pages that are not authentic, in order; none if the format has no MAC.
    ///
    /// - Parameters:
    ///   - pages: consecutive complete pages, as stored.
    ///   - first: the number of the first page. Numbers start at 1.
    package func unauthentic(_ pages: Span<UInt8>, first: UInt32) throws(CryptographyFailure) -> [UInt32] {
        guard single.layout.hmac != nil else { return [] }
        var wrong: [UInt32] = []
        for group in LaneGroup.all(pages.count, single.layout, first: first, hasLanes: lanes != nil) {
            let verdicts =
                group.usesLanes ? lanes?.verdicts(pages.extracting(group.bytes), first: group.first) : nil
            for index in 0..<group.count where verdicts?[index] != true || index == group.sample {
                let isRight = try single.authenticates(
                    pages.extracting(group.page(index)), number: group.number(index))
                guard verdicts == nil || verdicts?[index] == isRight else { throw PageLanes.failure() }
                if !isRight { wrong.append(group.number(index)) }
            }
        }
        return wrong
    }

    /// Decrypts consecutive pages, each like ``PageCipher``.
    package func decrypt(_ pages: Span<UInt8>, first: UInt32, into contents: inout MutableSpan<UInt8>)
        throws(CryptographyFailure)
    {
        precondition(contents.count == pages.count)
        for group in LaneGroup.all(pages.count, single.layout, first: first, hasLanes: lanes != nil) {
            for index in 0..<group.count {
                let page = pages.extracting(group.page(index))
                if let lanes, group.usesLanes {
                    contents.withPart(group.page(index)) { lanes.open(page, into: &$0) }
                }
                guard !group.usesLanes || index == group.sample else { continue }
                let content = try opened(page, number: group.number(index))
                guard
                    !group.usesLanes || content.span.isEqual(to: contents.span.extracting(group.page(index)))
                else {
                    throw PageLanes.failure()
                }
                contents.copy(content.span, at: group.page(index).lowerBound)
            }
        }
    }

    private func opened(_ page: Span<UInt8>, number: UInt32) throws(CryptographyFailure) -> [UInt8] {
        var content = [UInt8](repeating: 0, count: page.count)
        var target = content.mutableSpan
        try single.decrypt(page, number: number, into: &target)
        return content
    }
}

/// A cipher that seals consecutive pages: the counterpart of ``BulkCipher``, with the same checks.
///
/// Pages that lanes have sealed are not used before they are verified by other means: one of sixteen here,
/// and all of them by the code that publishes them.
package final class BulkSealer {
    package let single: PageSealer
    private let lanes: LaneKeys?

    package init(
        key: borrowing SecretBytes, salt: [UInt8], layout: PageCipher.Layout, lanes: PageLanes = .current
    ) throws(CryptographyFailure) {
        single = try PageSealer(key: key, salt: salt, layout: layout)
        self.lanes = try LaneKeys(key: key, salt: salt, layout: layout, lanes)
    }

    /// Creates a sealer whose lanes may have other keys, for tests.
    init(_ single: PageSealer, _ lanes: LaneKeys) { (self.single, self.lanes) = (single, lanes) }

    /// Encrypts consecutive pages, each like ``PageSealer``.
    ///
    /// - Parameter reserves: fresh random bytes, as many as the layout reserves in all the pages together.
    package func seal(
        _ contents: Span<UInt8>, first: UInt32, reserves: Span<UInt8>, into pages: inout MutableSpan<UInt8>
    ) throws(CryptographyFailure) {
        let reserve = single.layout.reserve
        for group in LaneGroup.all(contents.count, single.layout, first: first, hasLanes: lanes != nil) {
            let place = (group.index * reserve)..<(group.index + group.count) * reserve
            let fresh = reserves.extracting(place)
            if let lanes, group.usesLanes {
                pages.withPart(group.bytes) {
                    lanes.seal(
                        contents.extracting(group.bytes), first: group.first, reserves: fresh, into: &$0)
                }
            }
            for index in 0..<group.count where !group.usesLanes || index == group.sample {
                var page = [UInt8](repeating: 0, count: single.layout.pageSize)
                var target = page.mutableSpan
                try single.seal(
                    contents.extracting(group.page(index)), number: group.number(index),
                    reserve: fresh.extracting(index * reserve..<(index + 1) * reserve), into: &target)
                guard !group.usesLanes || page.span.isEqual(to: pages.span.extracting(group.page(index)))
                else { throw PageLanes.failure() }
                pages.copy(page.span, at: group.page(index).lowerBound)
            }
        }
    }
}

/// Pages that go through the lanes together, or a single page that does not use lanes.
private struct LaneGroup {
    /// The index of the first page in the sequence.
    let index: Int
    let count: Int
    /// The number of the first page.
    let first: UInt32
    let usesLanes: Bool
    /// The index of the page that libcrypto checks, if any.
    let sample: Int?
    let pageSize: Int

    var bytes: Range<Int> { index * pageSize..<(index + count) * pageSize }

    func number(_ position: Int) -> UInt32 { first &+ UInt32(position) }

    func page(_ position: Int) -> Range<Int> {
        (index + position) * pageSize..<(index + position + 1) * pageSize
    }

    /// Divides pages into groups. In each sixteen pages, which form two groups, one page is a sample.
    static func all(_ size: Int, _ layout: PageCipher.Layout, first: UInt32, hasLanes: Bool) -> [LaneGroup] {
        precondition(size.isMultiple(of: layout.pageSize))
        let count = size / layout.pageSize
        // A database has no more pages than `UInt32` can number, but a file may.
        let hasLanes = hasLanes && first > 0 && UInt32(exactly: Int(first) + count) != nil
        func group(_ index: Int, _ count: Int, sample: Int?, usesLanes: Bool) -> LaneGroup {
            LaneGroup(
                index: index, count: count, first: first &+ UInt32(truncatingIfNeeded: index),
                usesLanes: usesLanes, sample: sample,
                pageSize: layout.pageSize)
        }
        guard hasLanes else { return (0..<count).map { group($0, 1, sample: nil, usesLanes: false) } }
        var result: [LaneGroup] = []
        var index = 0
        if first == 1 && count > 0 {
            result.append(group(0, 1, sample: nil, usesLanes: false))
            index = 1
        }
        while index < count {
            let sixteen = min(2 * LaneKeys.most, count - index)
            let sample = Int.random(in: 0..<sixteen)
            for start in stride(from: 0, to: sixteen, by: LaneKeys.most) {
                let some = min(LaneKeys.most, sixteen - start)
                let isSampled = (start..<start + some).contains(sample)
                result.append(
                    group(index + start, some, sample: isSampled ? sample - start : nil, usesLanes: true))
            }
            index += sixteen
        }
        return result
    }
}
