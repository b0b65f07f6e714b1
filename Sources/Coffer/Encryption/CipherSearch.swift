internal import SQLCipherBridge

/// Searches common cipher settings that are not the defaults of a format, by checking whether page 1 of a
/// file is authentic with them.
///
/// Only the derivations from a passphrase are slow. Page sizes, HMAC hash functions and plaintext headers are
/// tried on the result of one derivation, in less than a millisecond each. Derivations are tried in order of
/// their cost. With a wrong passphrase, the search costs two derivations of 256,000 rounds more than trying
/// the formats.
struct CipherSearch {
    private let start: [UInt8]
    private let fileSalt: [UInt8]

    /// - Parameter header: contains the first bytes of the file, up to the size of the largest page.
    init(_ header: FileHeader) {
        start = header.start
        fileSalt = header.salt
    }

    private static let pageSizes = [4096, 1024, 2048, 8192, 16384, 32768, 65536]

    private typealias Derivation = (algorithm: CipherSettings.HashAlgorithm, rounds: Int)

    /// The common ways to stretch a passphrase: one round, for programs that pass a key that needs no
    /// stretching as a passphrase; the derivations of the formats, for other page sizes; and format 4's
    /// rounds with the other hash functions.
    private static let usualDerivations: [Derivation] = [
        (.sha512, 1), (.sha1, 1), (.sha256, 1), (.sha1, 4_000), (.sha1, 64_000), (.sha512, 256_000),
        (.sha1, 256_000), (.sha256, 256_000),
    ]

    /// Returns the settings with which page 1 is authentic, or nil if there are none.
    ///
    /// - Parameters:
    ///   - key: any key except a provider.
    ///   - own: the configured settings, whose derivation is tried as well.
    ///   - material: derives the material from the key.
    func settings(
        for key: DatabaseKey, own: CipherSettings,
        _ material: (CipherSettings) throws(KeyError) -> KeyRing.Material
    ) throws(KeyError) -> CipherSettings? {
        for derivation in CipherSearch.derivations(for: key, own) {
            var settings = CipherSettings()
            settings.kdfAlgorithm = derivation.algorithm
            settings.kdfIterations = derivation.rounds
            let derived = try material(settings)
            for candidate in candidates(settings, derived) {
                if try proves(candidate, derived) { return candidate }
            }
        }
        return nil
    }

    private static func derivations(for key: DatabaseKey, _ own: CipherSettings) -> [Derivation] {
        // A raw key does not use the rounds. Those of the formats are used.
        guard case .passphrase = key.kind else {
            return [(.sha512, 256_000), (.sha1, 64_000), (.sha256, 256_000)]
        }
        let first: Derivation = (own.kdfAlgorithm, own.kdfIterations)
        return [first] + usualDerivations.filter { $0 != first }
    }

    private func candidates(_ settings: CipherSettings, _ material: KeyRing.Material) -> [CipherSettings] {
        // The salt was given with the key if it does not come from the file.
        let hasClearHeader =
            start.starts(with: DatabaseHeader.magic) && material.salt != nil && !material.isBoundToFileSalt
        let own = settings.kdfAlgorithm
        let hashes = [own] + CipherSettings.HashAlgorithm.allCases.filter { $0 != own }
        var result: [CipherSettings] = []
        for headerSize in hasClearHeader ? [32, 16, 48, 64, 80, 96] : [0] {
            for pageSize in CipherSearch.pageSizes where pageSize <= start.count {
                var candidate = settings
                (candidate.plaintextHeaderSize, candidate.pageSize) = (headerSize, pageSize)
                for hash in hashes {
                    candidate.hmacAlgorithm = hash
                    result.append(candidate)
                }
                // Without MACs, a plaintext header verifies nothing.
                guard headerSize == 0 else { continue }
                (candidate.usesHMAC, candidate.hmacAlgorithm) = (false, own)
                result.append(candidate)
            }
        }
        return result
    }

    private func proves(_ settings: CipherSettings, _ material: KeyRing.Material) throws(KeyError) -> Bool {
        let page = Array(start.prefix(settings.pageSize))
        return try cryptographically { () throws(CryptographyFailure) in
            let cipher = try material.cipher(settings, fileSalt: fileSalt)
            if settings.usesHMAC { return try cipher.authenticates(page, number: 1) }
            guard let header = try DatabaseHeader(cipher.decrypt(page, number: 1)) else { return false }
            return header.isPlausible && header.pageSize == settings.pageSize
                && header.reservedSize >= PageCipher.Layout(settings).reserve
        }
    }
}

extension CipherSettings {
    /// The format that shares the most of these settings, and the settings that differ from it.
    package var nearestFormat: (number: Int, differences: [(name: String, value: String)]) {
        let candidates = CipherSettings.formats.reversed().map { format in
            (format, differences(from: .sqlcipher(format: format)))
        }
        return candidates.min { $0.1.count < $1.1.count } ?? (4, [])
    }

    private func differences(from other: CipherSettings) -> [(name: String, value: String)] {
        var result: [(name: String, value: String)] = []
        if pageSize != other.pageSize { result.append(("pageSize", "\(pageSize)")) }
        if kdfIterations != other.kdfIterations { result.append(("kdfIterations", "\(kdfIterations)")) }
        if kdfAlgorithm != other.kdfAlgorithm { result.append(("kdfAlgorithm", ".\(kdfAlgorithm)")) }
        if usesHMAC != other.usesHMAC { result.append(("usesHMAC", "\(usesHMAC)")) }
        if usesHMAC, hmacAlgorithm != other.hmacAlgorithm {
            result.append(("hmacAlgorithm", ".\(hmacAlgorithm)"))
        }
        if hmacKeyIterations != other.hmacKeyIterations {
            result.append(("hmacKeyIterations", "\(hmacKeyIterations)"))
        }
        if hmacPageNumberOrder != other.hmacPageNumberOrder {
            result.append(("hmacPageNumberOrder", ".\(hmacPageNumberOrder)"))
        }
        if hmacSaltMask != other.hmacSaltMask { result.append(("hmacSaltMask", "\(hmacSaltMask)")) }
        if plaintextHeaderSize != other.plaintextHeaderSize {
            result.append(("plaintextHeaderSize", "\(plaintextHeaderSize)"))
        }
        return result
    }

    /// The settings in source form, such as `.sqlcipher(format: 3) with pageSize = 4096`.
    var spelling: String {
        let (number, differences) = nearestFormat
        let words = differences.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
        return ".sqlcipher(format: \(number))" + (words.isEmpty ? "" : " with \(words)")
    }
}
