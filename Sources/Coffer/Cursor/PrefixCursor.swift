/// A cursor of the first elements of another cursor, made by ``Cursor/prefix(_:)``.
public final class PrefixCursor<Base: Cursor>: Cursor {
    @usableFromInline
    let base: Base

    /// The number of elements that may still be produced.
    @usableFromInline
    var remaining: Int

    @inlinable
    init(_ base: Base, _ maxLength: Int) {
        guard maxLength >= 0 else {
            fatalError("The number of elements to take must not be negative: \(maxLength)")
        }
        self.base = base
        remaining = maxLength
    }

    @inlinable
    public func next() throws -> Base.Element? {
        guard remaining > 0 else { return nil }
        let element = try base.next()
        remaining = element == nil ? 0 : remaining - 1
        return element
    }
}

@available(*, unavailable)
extension PrefixCursor: Sendable {}
