/// The options for the secret of a site, from which keys get identifiers that are the same in all of its
/// files.
typealias SiteSecretOptions = SecretOptions<SiteSecretRole>

enum SiteSecretRole: SecretRole {
    typealias Input = NoOptions
    static let prefix = "site-secret"
    static let help = SecretHelp(
        "the site secret",
        file: "Give keys identifiers that are the same in all files, derived with a secret from this file.")
}

extension SiteSecretOptions {
    /// Returns the secret, or nil if none was given.
    func secret(_ keys: KeyReader) throws -> SiteSecret? {
        guard let source = try source() else { return nil }
        return try SiteSecret(keys.secret(from: source), sourceName: source.name)
    }
}
