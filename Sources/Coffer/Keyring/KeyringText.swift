internal import SQLCipherBridge

/// The text of a keyring: readable lines in a single spelling, so that each byte counts.
///
/// A file contains it twice. Each copy ends with a checksum that needs no key, so a damaged copy is detected
/// and the other one is used.
enum KeyringText {
    /// The maximum size of a keyring in bytes, for any number of slots.
    static let limit = 65_536

    /// The version that this code reads and writes.
    static let version = 1

    static let title = "coffer keyring "

    // MARK: - Writing

    /// Returns the text that the codes cover: everything except the codes and the checksum.
    static func body(of document: KeyringDocument) -> [UInt8] {
        var lines = [
            "\(title)\(version)", "id \(document.id.hexadecimal)", "generation \(document.generation)",
        ]
        for epoch in document.epochs { lines.append("key \(epoch)") }
        for slot in document.slots {
            lines.append("slot \(slot.number) \(slot.way.word)\(slot.name.isEmpty ? "" : " \(slot.name)")")
            lines.append("public \(slot.publicKey.hexadecimal)")
            switch slot.way {
            case .passphrase(let cost, let salt):
                lines.append(
                    "scrypt \(cost.logarithm) \(cost.blockSize) \(cost.parallelism) \(salt.hexadecimal)")
            case .command(let challenge, let token):
                lines.append(
                    "command \(challenge.hexadecimal)\(token.isEmpty ? "" : " \(token.hexadecimal)")")
            case .rawKey, .recoveryKey, .recipient: break
            }
            for (epoch, sealed) in zip(document.epochs, slot.sealed) {
                lines.append(
                    "sealed \(epoch) \(sealed.encapsulation.hexadecimal) \(sealed.ciphertext.hexadecimal)")
            }
        }
        return bytes(lines)
    }

    /// Returns true if the file of a document is short enough to be read again, even during a rotation of its
    /// data key.
    static func fits(_ document: KeyringDocument) -> Bool {
        // A rotation adds a line `sealed` for each slot, and lines `key`, `code` and `check` of maximum
        // length.
        let sealed = document.epochs.count == 1 ? 200 * document.slots.count : 0
        return 2 * (body(of: document).count + sealed + 400) <= limit
    }

    /// Returns one copy.
    static func text(of document: KeyringDocument) throws(CryptographyFailure) -> [UInt8] {
        let codes = zip(document.epochs, document.codes).map { "code \($0) \($1.hexadecimal)" }
        let text = body(of: document) + bytes(codes)
        return text + bytes(["check \(try Digest.sha256(text).hexadecimal)"])
    }

    /// Returns the content of a file: two copies.
    static func file(of document: KeyringDocument) throws(CryptographyFailure) -> [UInt8] {
        let text = try text(of: document)
        return text + text
    }

    private static func bytes(_ lines: [String]) -> [UInt8] {
        lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }

    // MARK: - Reading

    /// Parses the content of a file.
    ///
    /// - Returns: the document, and the damage to one copy if the other one is intact.
    /// - Throws: ``EncryptionFailure/KeyringProblem`` if no copy is intact, or the two differ.
    static func read(_ file: [UInt8]) throws(KeyringReadingError) -> (
        document: KeyringDocument, damage: [KeyringDamage]
    ) {
        guard file.count <= limit else { throw .problem(.tooLong(size: Int64(file.count))) }
        var copies = try copies(in: file, at: file.count / 2)
        // If one copy is longer than the other, something was lost or added.
        for middle in startsOfSecondCopy(in: file) where !copies.contains(where: \.isSuccess) {
            copies = try self.copies(in: file, at: middle)
        }
        switch (copies[0], copies[1]) {
        case (.success(let first), .success(let second)):
            guard first == second else { throw .problem(.copiesDiffer) }
            return (first, [])
        case (.success(let document), .failure(let damage)), (.failure(let damage), .success(let document)):
            return (document, [damage])
        case (.failure(let first), .failure(let second)):
            if let version = first.otherVersion, second.otherVersion == version {
                throw .problem(.unsupportedVersion(version))
            }
            throw .problem(.damaged([first, second]))
        }
    }

    private static func copies(
        in file: [UInt8], at middle: Int
    ) throws(KeyringReadingError) -> [Result<KeyringDocument, KeyringDamage>] {
        [try copy(1, Array(file[..<middle])), try copy(2, Array(file[middle...]))]
    }

    /// Returns the possible starts of the second copy: after the first checksum, and at the last title line.
    private static func startsOfSecondCopy(in file: [UInt8]) -> [Int] {
        let (title, check) = (Array(title.utf8), Array("check ".utf8))
        var (starts, isCheck) = ([Int](), false)
        var lastTitle: Int?
        var start = 0
        for (index, byte) in file.enumerated() where byte == UInt8(ascii: "\n") {
            if isCheck, starts.isEmpty { starts.append(start) }
            isCheck = file[start...].starts(with: check)
            if start > 0, file[start...].starts(with: title) { lastTitle = start }
            start = index + 1
        }
        if isCheck, starts.isEmpty { starts.append(start) }
        if start > 0, file[start...].starts(with: title) { lastTitle = start }
        return starts + (lastTitle.map { [$0] } ?? [])
    }

    private static func copy(_ number: Int, _ text: [UInt8]) throws(KeyringReadingError) -> Result<
        KeyringDocument, KeyringDamage
    > {
        var reader = KeyringLines(text)
        do throws(KeyringLines.Failure) {
            return .success(try reader.document())
        } catch {
            switch error {
            case .cryptography(let failure): throw .cryptography(failure)
            case .line(let words, let version):
                return .failure(
                    KeyringDamage(copy: number, line: reader.lineNumber, words: words, otherVersion: version))
            }
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}

/// The reason why a keyring cannot be read.
enum KeyringReadingError: Error {
    case problem(EncryptionFailure.KeyringProblem)
    case cryptography(CryptographyFailure)
}

extension KeyringDocument.Way {
    /// The word for this kind of slot in the text.
    var word: String { DatabaseKeyring.Contents.Slot.Kind(self).word }
}

extension DatabaseKeyring.Contents.Slot.Kind {
    /// The word for this kind of slot in the text of a keyring, and for people.
    package var word: String {
        switch self {
        case .passphrase: "passphrase"
        case .rawKey: "raw"
        case .recoveryKey: "recovery"
        case .command: "command"
        case .recipient: "recipient"
        }
    }
}
