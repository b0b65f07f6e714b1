internal import ArgumentParser
internal import Coffer

/// The cipher settings that differ from the SQLCipher 4 defaults. The file does not store them, so the user
/// must supply them.
struct CipherOptions: FormatOptions {
    @Option(help: .value("number", "The SQLCipher format of the file, 1 to 4."))
    var cipherFormat: Int?

    @Option(help: .value("bytes", "The page size, if it is not the format's."))
    var pageSize: Int?

    @Option(help: .value("rounds", "The PBKDF2 iterations, if they are not the format's."))
    var kdfIterations: Int?

    @Option(help: .value("hash", "The hash function of PBKDF2, if it is not the format's."))
    var kdfAlgorithm: Hash?

    @Option(
        help: .value(
            "hash",
            "The hash function of the page MACs, if it is not the format's; none if the pages have "
                + "no MACs."))
    var hmacAlgorithm: CodeHash?

    @Option(
        help: .value(
            "bytes", "The size of the plaintext header, if the file has one. The key must include the salt."))
    var plaintextHeader: Int?

    enum Hash: String, ExpressibleByArgument, CaseIterable {
        case sha1, sha256, sha512

        fileprivate var algorithm: CipherSettings.HashAlgorithm {
            switch self {
            case .sha1: .sha1
            case .sha256: .sha256
            case .sha512: .sha512
            }
        }
    }

    enum CodeHash: String, ExpressibleByArgument, CaseIterable {
        case sha1, sha256, sha512, none
    }

    func validate() throws {
        guard plaintextHeader.map({ (0...96).contains($0) && $0 % 16 == 0 }) ?? true else {
            throw ValidationError("The size of a plaintext header is 0, or a multiple of 16 up to 96.")
        }
        let problem = CipherOptions.problem(
            format: cipherFormat, pageSize: pageSize, kdfIterations: kdfIterations)
        if let problem { throw ValidationError(problem) }
    }

    /// Returns the problem with settings from options or a manifest, as a sentence.
    static func problem(format: Int?, pageSize: Int?, kdfIterations: Int?) -> String? {
        guard format.map((1...4).contains) ?? true else { return "The formats of SQLCipher are 1 to 4." }
        guard pageSize.map({ (1024...65536).contains($0) && $0.nonzeroBitCount == 1 }) ?? true else {
            return "A page size is a power of two from 1024 to 65536."
        }
        guard kdfIterations.map({ (1...Int(Int32.max)).contains($0) }) ?? true else {
            return "The number of PBKDF2 iterations must be from 1 to \(Int32.max)."
        }
        return nil
    }

    /// The requested settings, or nil if none were given.
    var given: CipherSettings? {
        guard
            cipherFormat != nil || pageSize != nil || kdfIterations != nil || kdfAlgorithm != nil
                || hmacAlgorithm != nil || plaintextHeader != nil
        else { return nil }
        var settings = CipherSettings.sqlcipher(format: cipherFormat ?? 4)
        if let pageSize { settings.pageSize = pageSize }
        if let kdfIterations { settings.kdfIterations = kdfIterations }
        if let kdfAlgorithm { settings.kdfAlgorithm = kdfAlgorithm.algorithm }
        if let hmacAlgorithm {
            let hash = Hash(rawValue: hmacAlgorithm.rawValue)
            settings.usesHMAC = hash != nil
            if let hash { settings.hmacAlgorithm = hash.algorithm }
        }
        if let plaintextHeader { settings.plaintextHeaderSize = plaintextHeader }
        return settings
    }

    var settings: CipherSettings { given ?? CipherSettings() }
}
