internal import SQLCipherBridge

/// What decides whether pages can go from one database to another as they are.
///
/// The engine copies pages without a look at the end of each, which the codec of the destination then
/// overwrites. Where it needs more room than the source has reserved, content is destroyed, and every call
/// answers OK.
struct PageLayout: Equatable {
    var isEncrypted: Bool
    var pageSize: Int64

    /// What the pages have left free at their end.
    var reservedBytes: Int

    /// What the codec of the connection writes there.
    var codecBytes: Int

    /// Asks the engine, not the configuration: what counts is what the file has.
    init(of handle: ConnectionHandle, isEncrypted: Bool) throws(EngineError) {
        // The sizes are those of the connection until the file is read.
        try handle.verifyKey()
        self.isEncrypted = isEncrypted
        pageSize = try handle.firstText(trusted: "PRAGMA main.page_size").flatMap(Int64.init) ?? 0
        reservedBytes = handle.reservedBytesPerPage
        codecBytes = 0
        guard isEncrypted else { return }
        let usesHMAC = try handle.firstText(trusted: "PRAGMA cipher_use_hmac") != "0"
        let algorithm = try handle.firstText(trusted: "PRAGMA cipher_hmac_algorithm")
        codecBytes = PageLayout.codecBytes(usesHMAC: usesHMAC, hmacAlgorithm: algorithm)
    }

    /// An initialization vector of 16 bytes and the authentication code, in whole blocks of the cipher.
    private static func codecBytes(usesHMAC: Bool, hmacAlgorithm: String?) -> Int {
        guard usesHMAC else { return 16 }
        return hmacAlgorithm == "HMAC_SHA1" || hmacAlgorithm == "HMAC_SHA256" ? 48 : 80
    }

    /// Whether the engine can copy pages of this layout into a database of another one.
    ///
    /// - Parameter canChangePageSize: whether the destination takes another page size: a plain file outside
    ///   of WAL mode.
    func canGo(to destination: PageLayout, canChangePageSize: Bool) -> Bool {
        guard isEncrypted == destination.isEncrypted else { return false }
        guard pageSize == destination.pageSize || !isEncrypted && canChangePageSize else { return false }
        return reservedBytes >= destination.codecBytes
    }
}
