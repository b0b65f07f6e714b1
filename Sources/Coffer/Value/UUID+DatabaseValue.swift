public import Foundation
internal import SQLCipherBridge

extension UUID: DatabaseValueConvertible, StatementColumnConvertible {
    /// The 16 bytes of the UUID.
    public var databaseValue: DatabaseValue {
        DatabaseValue(storage: .blob(unsafe withUnsafeBytes(of: uuid) { unsafe Data($0) }))
    }

    /// Creates a UUID from 16 bytes, or from text such as `3F2504E0-4F89-41D3-9A0C-5D1C0FFE2301`.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> UUID? {
        switch dbValue.storage {
        case .blob(let data): unsafe data.withUnsafeBytes { unsafe UUID(bytes: $0) }
        case .string(let text): UUID(uuidString: text)
        default: nil
        }
    }

    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let statement = unsafe StatementHandle(sqliteStatement)
        switch statement.columnType(at: index) {
        case EngineType.blob:
            guard let bytes = unsafe statement.blobNoCopy(at: index) else { return nil }
            unsafe self.init(bytes: bytes)
        case EngineType.text:
            guard let text = statement.text(at: index) else { return nil }
            self.init(uuidString: text)
        default:
            return nil
        }
    }

    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        unsafe withUnsafeBytes(of: uuid) { unsafe StatementHandle(sqliteStatement).bind(blob: $0, at: index) }
    }

    private init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<uuid_t>.size else { return nil }
        self.init(uuid: unsafe bytes.loadUnaligned(as: uuid_t.self))
    }
}
