internal import SQLCipherBridge

/// The text of a keyring: lines for people, in one spelling only, so that each byte counts.
///
/// A file has it twice. Each copy ends with a check sum that needs no key, so that a copy that was damaged is
/// known, and the other one is enough.
enum KeyringText {
    /// No keyring is longer, however many slots it has.
    static let limit = 65_536

    /// The version that this code writes and reads.
    static let version = 1

    static let title = "coffer keyring "

    // MARK: - Writing

    /// What the codes are computed of: all but them and the check sum.
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

    /// Whether the file of a document is short enough to be read again, also while its data key is rotated.
    static func fits(_ document: KeyringDocument) -> Bool {
        // A line `sealed` for each slot, and lines `key`, `code` and `check` at their longest.
        let sealed = document.epochs.count == 1 ? 200 * document.slots.count : 0
        return 2 * (body(of: document).count + sealed + 400) <= limit
    }

    /// One copy.
    static func text(of document: KeyringDocument) throws(CryptographyFailure) -> [UInt8] {
        let codes = zip(document.epochs, document.codes).map { "code \($0) \($1.hexadecimal)" }
        let text = body(of: document) + bytes(codes)
        return text + bytes(["check \(try Digest.sha256(text).hexadecimal)"])
    }

    /// The content of a file: two copies.
    static func file(of document: KeyringDocument) throws(CryptographyFailure) -> [UInt8] {
        let text = try text(of: document)
        return text + text
    }

    private static func bytes(_ lines: [String]) -> [UInt8] {
        lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }

    // MARK: - Reading

    /// Reads the content of a file.
    ///
    /// - Returns: what it says, and where it is damaged although one of its copies is whole.
    /// - Throws: ``EncryptionFailure/KeyringProblem`` where there is no whole copy, or two that say different
    ///   things.
    static func read(_ file: [UInt8]) throws(KeyringReadingError) -> (
        document: KeyringDocument, damage: [KeyringDamage]
    ) {
        guard file.count <= limit else { throw .problem(.tooLong(size: Int64(file.count))) }
        var copies = try copies(in: file, at: file.count / 2)
        // Where one copy is longer than the other, something was lost or added.
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

    /// Where the second copy may begin: after the first check sum, and at the last line that begins a copy.
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

/// What comes of reading a keyring that cannot be read.
enum KeyringReadingError: Error {
    case problem(EncryptionFailure.KeyringProblem)
    case cryptography(CryptographyFailure)
}

extension KeyringDocument.Way {
    /// How the text calls it.
    var word: String {
        switch self {
        case .passphrase: "passphrase"
        case .rawKey: "raw"
        case .recoveryKey: "recovery"
        case .command: "command"
        case .recipient: "recipient"
        }
    }
}
