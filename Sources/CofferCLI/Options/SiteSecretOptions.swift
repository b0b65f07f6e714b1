internal import ArgumentParser

/// The options for the secret of a site, from which keys get identifiers that are the same in all of its
/// files. At most one source may be given.
struct SiteSecretOptions: UntypedSourceOptions {
    static let prefix = "site-secret"

    @Option(
        name: .customLong("site-secret"),
        help: .source(
            "Give keys identifiers that are the same in all files, derived with the secret from this "
                + "source."))
    var sources: [SourceArgument] = []

    // The older options.

    @Option(name: .customLong("site-secret-file"), help: .hidden, completion: .file())
    var file: String?

    @Option(name: .customLong("site-secret-fd"), help: .hidden)
    var descriptor: Int32?

    @Option(name: .customLong("site-secret-command"), help: .hidden)
    var command: String?

    @Option(name: .customLong("site-secret-env"), help: .hidden)
    var environment: String?

    @Option(name: .customLong("site-secret-credential"), help: .hidden)
    var credential: String?

    /// Returns the secret, or nil if none was given.
    func secret(_ keys: KeyReader) throws -> SiteSecret? {
        guard let source = try source() else { return nil }
        return try SiteSecret(
            keys.secret(from: source, Self.prefix, subject: "the site"), sourceName: source.name)
    }
}
