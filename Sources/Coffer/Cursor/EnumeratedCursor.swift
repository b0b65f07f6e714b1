/// A cursor of numbered elements, made by ``Cursor/enumerated()``.
public final class EnumeratedCursor<Base: Cursor>: Cursor {
    @usableFromInline
    let base: Base

    @usableFromInline
    var index = 0

    @inlinable
    init(_ base: Base) {
        self.base = base
    }

    @inlinable
    public func next() throws -> (Int, Base.Element)? {
        guard let element = try base.next() else { return nil }
        defer { index += 1 }
        return (index, element)
    }

    @inlinable
    public func forEach(_ body: ((Int, Base.Element)) throws -> Void) throws {
        try base.forEach { element in
            defer { index += 1 }
            try body((index, element))
        }
    }
}

@available(*, unavailable)
extension EnumeratedCursor: Sendable {}
