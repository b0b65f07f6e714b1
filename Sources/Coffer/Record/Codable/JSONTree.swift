/// The content of a nested container of a record, which is encoded as JSON when it is complete.
final class JSONTree: Encoder, Encodable {
    private enum Content {
        case none
        case keyed([(key: AnyKey, value: any Encodable)])
        case unkeyed([any Encodable])
        case single(any Encodable)
    }

    private var content = Content.none

    /// The `userInfo` that the record type gives its coders.
    let userInfo: [CodingUserInfoKey: Any]

    var codingPath: [any CodingKey] { [] }

    init(userInfo: [CodingUserInfoKey: Any]) { self.userInfo = userInfo }

    func encode(to encoder: any Encoder) throws {
        switch content {
        case .none:
            try Null().encode(to: encoder)
        case .keyed(let members):
            var container = encoder.container(keyedBy: AnyKey.self)
            for (key, value) in members { try container.encode(value, forKey: key) }
        case .unkeyed(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .single(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .none = content { content = .keyed([]) }
        return KeyedEncodingContainer(KeyedContainer<Key>(tree: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .none = content { content = .unkeyed([]) }
        return UnkeyedContainer(tree: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleContainer(tree: self) }

    private func append(_ value: some Encodable, forKey key: some CodingKey) {
        guard case .keyed(var members) = content else { return }
        content = .none
        members.append((AnyKey(key), value))
        content = .keyed(members)
    }

    private func append(_ element: some Encodable) {
        guard case .unkeyed(var elements) = content else { return }
        content = .none
        elements.append(element)
        content = .unkeyed(elements)
    }

    private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let tree: JSONTree
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) { tree.append(Null(), forKey: key) }
        func encode(_ value: some Encodable, forKey key: Key) { tree.append(value, forKey: key) }
        func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key)
            -> KeyedEncodingContainer<NestedKey>
        {
            nestedTree(key).container(keyedBy: type)
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            nestedTree(key).unkeyedContainer()
        }
        func superEncoder() -> any Encoder { nestedTree(AnyKey("super")) }
        func superEncoder(forKey key: Key) -> any Encoder { nestedTree(key) }

        private func nestedTree(_ key: some CodingKey) -> JSONTree {
            let nested = JSONTree(userInfo: tree.userInfo)
            tree.append(nested, forKey: key)
            return nested
        }
    }

    private struct UnkeyedContainer: UnkeyedEncodingContainer {
        let tree: JSONTree
        var codingPath: [any CodingKey] { [] }
        var count: Int {
            if case .unkeyed(let elements) = tree.content { elements.count } else { 0 }
        }

        func encodeNil() { tree.append(Null()) }
        func encode(_ value: some Encodable) { tree.append(value) }
        func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<
            NestedKey
        > {
            nestedTree().container(keyedBy: type)
        }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nestedTree().unkeyedContainer() }
        func superEncoder() -> any Encoder { nestedTree() }

        private func nestedTree() -> JSONTree {
            let nested = JSONTree(userInfo: tree.userInfo)
            encode(nested)
            return nested
        }
    }

    private struct SingleContainer: SingleValueEncodingContainer {
        let tree: JSONTree
        var codingPath: [any CodingKey] { [] }

        func encodeNil() { tree.content = .single(Null()) }
        func encode(_ value: some Encodable) { tree.content = .single(value) }
    }
}

/// A value that is encoded as null.
private struct Null: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

/// A coding key of any name.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ key: some CodingKey) { stringValue = key.stringValue }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}
