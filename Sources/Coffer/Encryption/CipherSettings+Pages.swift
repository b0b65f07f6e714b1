internal import SQLCipherBridge

extension PageCipher.Layout {
    /// How pages are laid out under these settings.
    init(_ settings: CipherSettings) {
        self.init(
            pageSize: settings.pageSize, hmac: settings.usesHMAC ? settings.hmacAlgorithm.bridged : nil,
            kdf: settings.kdfAlgorithm.bridged, hmacKeyIterations: settings.hmacKeyIterations,
            plaintextHeaderSize: settings.plaintextHeaderSize, hasBigEndianNumbers: settings.hmacPageNumberOrder == .bigEndian,
            hmacSaltMask: settings.hmacSaltMask)
    }
}
