internal import SQLCipherBridge

/// The properties that decide if pages can be copied unchanged from one database to another.
///
/// The engine copies pages without regard to the reserved bytes at the end of each, which the codec of the
/// destination then overwrites. If that codec needs more bytes than the source has reserved, content is
/// destroyed while every call returns `SQLITE_OK`.
struct PageLayout: Equatable {
    var isEncrypted: Bool
    var pageSize: Int64

    /// The number of bytes that the pages reserve at their end.
    var reservedBytes: Int

    /// The number of those bytes that the connection's codec writes.
    var codecBytes: Int

    /// Asks the engine rather than the configuration: the layout of the file decides.
    init(of handle: ConnectionHandle, isEncrypted: Bool) throws(EngineError) {
        // Until the file is read, the sizes are the connection's defaults.
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

    /// Returns the size of an initialization vector (16 bytes) and the MAC, rounded up to whole cipher
    /// blocks.
    private static func codecBytes(usesHMAC: Bool, hmacAlgorithm: String?) -> Int {
        guard usesHMAC else { return 16 }
        return hmacAlgorithm == "HMAC_SHA1" || hmacAlgorithm == "HMAC_SHA256" ? 48 : 80
    }

    /// Returns true if the engine can copy pages of this layout into a database of another one.
    ///
    /// - Parameter canChangePageSize: true if the destination accepts another page size: a plaintext file
    ///   that is not in WAL mode.
    func canGo(to destination: PageLayout, canChangePageSize: Bool) -> Bool {
        guard isEncrypted == destination.isEncrypted else { return false }
        guard pageSize == destination.pageSize || !isEncrypted && canChangePageSize else { return false }
        return reservedBytes >= destination.codecBytes
    }
}
