/// The topic of the help about sources of secrets.
enum KeyTopic {
    static let text = """
        OVERVIEW: Sources of keys and other secrets.

        Secrets are never arguments. The options --key, --new-key, --previous-key
        (another key to try after --key, for files that may have it), --unlock,
        --audit-key and --site-secret take the source of a secret, and so do the members
        of manifests with these names:

        \(table(sources))

        A type before the source tells what the secret is, as in raw:file:app.key:

        \(table(types))

        \(forms)

        DEFAULTS

        \(table(environment))

        \(defaults)

        EXAMPLES
          coffer verify app.db --key file:app.key
          coffer verify app.db --key 'command:pass show app'
          coffer rotate app.db --key file:app.key --new-key file:next.key
          coffer query app.db 'SELECT 1' --unlock file:office.identity
          COFFER_KEY=file:app.key coffer verify app.db

        The options with one name for each source, such as --key-file PATH with
        --key-type raw, still work: 'coffer verify --help-hidden' lists them.
        """

    static let forms = """
        Without a type, the form of the secret tells it. In a file or a credential, 64
        hexadecimal digits are a raw key, and 96 are one with its salt; so are digits in
        x'...' from any source. Identities and recovery keys for --unlock are known by
        their form. Everything else is a passphrase. Digits that come from another
        source, and 32 or 48 bytes that are not text, may be a raw key or a passphrase:
        without a type, they are refused.
        """

    static let defaults = """
        Without an option for a secret, COFFER_KEY and COFFER_UNLOCK give its source,
        and then the configuration: the file in COFFER_CONFIG, or else
        ~/.config/coffer/config.json or /etc/coffer/config.json. It is a JSON object
        with the members key, unlock and audit-key (sources), audit and metrics (files)
        and keep (as for --keep). Relative paths start at its folder, but not those in
        arguments of commands. It, its folder and programs that it names by a path must
        belong to you or to root, and others must not be able to write to them. Given
        key and unlock, the key is tried before the keyring. The commands info and batch
        info use no default for a key. 'coffer doctor' shows where each one comes from.
        """

    static let sources = [
        ("file:PATH", "a file that only you can read, or a pipe"),
        ("fd:N", "an open file descriptor"),
        ("stdin", "the standard input"),
        ("env:NAME", "an environment variable (not recommended)"),
        ("command:LINE", "the output of a command, which is run without a shell"),
        ("credential:NAME", "a credential of systemd"),
        ("ask", "a prompt at the terminal, as --unlock without a source"),
    ]

    static let types = [
        ("passphrase:", "a text; one line break at its end is not part of it"),
        ("raw:", "32 bytes, or 64 hexadecimal digits"),
        ("raw+salt:", "48 bytes, or 96 digits: a raw key and its salt"),
        ("recovery:", "the recovery key of a keyring"),
        ("identity:", "an identity, from 'coffer keygen --recipient'"),
        ("program:LINE", "a program for slots of 'coffer key add --command'"),
    ]

    static let environment = [
        ("COFFER_CONFIG", "the configuration file; if empty, there is none"),
        ("COFFER_KEY", "the source for --key"),
        ("COFFER_UNLOCK", "the source for --unlock"),
    ]

    private static func table(_ rows: [(String, String)]) -> String {
        rows.map { name, words in
            "  \(name)" + String(repeating: " ", count: max(1, 17 - name.count)) + words
        }.joined(separator: "\n")
    }
}
