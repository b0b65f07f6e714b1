/// A cursor that ends at the first element that does not satisfy a predicate, made by
/// ``Cursor/prefix(while:)``.
public final class PrefixWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline
    let base: Base

    @usableFromInline
    let predicate: (Base.Element) throws -> Bool

    @usableFromInline
    var isFinished = false

    @inlinable
    init(_ base: Base, _ predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    @inlinable
    public func next() throws -> Base.Element? {
        if isFinished { return nil }
        if let element = try base.next(), try predicate(element) { return element }
        isFinished = true
        return nil
    }
}

@available(*, unavailable)
extension PrefixWhileCursor: Sendable {}
