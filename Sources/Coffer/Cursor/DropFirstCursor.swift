/// A cursor that skips the first elements of another cursor, made by ``Cursor/dropFirst(_:)``.
public final class DropFirstCursor<Base: Cursor>: Cursor {
    @usableFromInline
    let base: Base

    /// The number of elements that are still to be skipped.
    @usableFromInline
    var remaining: Int

    @inlinable
    init(_ base: Base, _ count: Int) {
        guard count >= 0 else { fatalError("The number of elements to drop must not be negative: \(count)") }
        self.base = base
        remaining = count
    }

    @inlinable
    public func next() throws -> Base.Element? {
        while remaining > 0 {
            guard try base.next() != nil else {
                remaining = 0
                return nil
            }
            remaining -= 1
        }
        return try base.next()
    }
}

@available(*, unavailable)
extension DropFirstCursor: Sendable {}
