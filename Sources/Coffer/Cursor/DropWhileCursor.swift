/// A cursor that skips elements while a predicate holds, made by ``Cursor/drop(while:)``.
public final class DropWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline
    let base: Base

    @usableFromInline
    let predicate: (Base.Element) throws -> Bool

    @usableFromInline
    var isDropping = true

    @inlinable
    init(_ base: Base, _ predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    @inlinable
    public func next() throws -> Base.Element? {
        while isDropping {
            guard let element = try base.next() else {
                isDropping = false
                return nil
            }
            if try !predicate(element) {
                isDropping = false
                return element
            }
        }
        return try base.next()
    }
}

@available(*, unavailable)
extension DropWhileCursor: Sendable {}
