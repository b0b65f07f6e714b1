internal import SQLCipherBridge

/// Parses one copy of a keyring line by line, and trusts none of its content.
struct KeyringLines {
    enum Failure: Error {
        /// The problem with the current line, and the stated version if it is an unknown one.
        case line(String, version: Int?)
        case cryptography(CryptographyFailure)
    }

    private let text: [UInt8]
    private var offset = 0

    /// The number of the last line read, from 1.
    private(set) var lineNumber = 0

    init(_ text: [UInt8]) {
        self.text = text
    }

    /// - Throws: the problem with line ``lineNumber``.
    mutating func document() throws(Failure) -> KeyringDocument {
        try checkVersion()
        let id = try bytes(try words("id", 1)[0], count: KeyringDocument.idSize)
        let generation = try count(try words("generation", 1)[0])
        guard generation > 0 else { throw wrong("generations are counted from 1") }
        let epochs = try epochs()
        var slots: [KeyringDocument.Slot] = []
        while nextWord == "slot" {
            guard slots.count < KeyringDocument.slotLimit else {
                throw wrong("there are more than \(KeyringDocument.slotLimit) slots")
            }
            let slot = try slot(epochs)
            guard slot.number > slots.last?.number ?? 0 else {
                throw wrong("the slot numbers are not in order")
            }
            slots.append(slot)
        }
        guard !slots.isEmpty else { throw wrong("there is no slot") }
        var codes: [[UInt8]] = []
        for epoch in epochs {
            let words = try words("code", 2)
            guard try number(words[0]) == epoch else { throw wrong("the code belongs to another data key") }
            codes.append(try bytes(words[1], count: SecretCode.size))
        }
        let end = offset
        let sum = try bytes(try words("check", 1)[0], count: 32)
        guard try hash(Array(text[..<end])) == sum else {
            throw wrong("the checksum does not match the text")
        }
        guard offset == text.count else { throw wrong("there is text after the checksum") }
        let document = KeyringDocument(
            id: id, generation: generation, epochs: epochs, slots: slots, codes: codes)
        // Each document has only one spelling, so the codes cover exactly the text that was read.
        guard KeyringText.body(of: document) == Array(text[..<KeyringText.body(of: document).count]) else {
            throw wrong("the text is not in the canonical form of a keyring")
        }
        return document
    }

    private mutating func checkVersion() throws(Failure) {
        let line = try line()
        guard line.hasPrefix(KeyringText.title), let version = Int(line.dropFirst(KeyringText.title.count)),
            version > 0
        else {
            throw wrong("it does not begin like a keyring")
        }
        guard version == KeyringText.version else {
            throw .line("it has version \(version)", version: version)
        }
    }

    private mutating func epochs() throws(Failure) -> [UInt64] {
        var epochs: [UInt64] = []
        while nextWord == "key" {
            let epoch = try count(try words("key", 1)[0])
            guard epoch > 0, epochs.count < 2, epochs.isEmpty || epoch == epochs[0] + 1 else {
                throw wrong("the data keys are not in order")
            }
            epochs.append(epoch)
        }
        guard !epochs.isEmpty else { throw wrong("there is no data key") }
        return epochs
    }

    private mutating func slot(_ epochs: [UInt64]) throws(Failure) -> KeyringDocument.Slot {
        let parts = try line().split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, let number = Int(exactly: try number(String(parts[1]))),
            (1...KeyringDocument.Slot.highestNumber).contains(number)
        else {
            throw wrong(
                "a slot must have a number from 1 to \(KeyringDocument.Slot.highestNumber), and a kind")
        }
        let name = parts.count > 3 ? String(parts[3]) : ""
        guard KeyringDocument.Slot.canBeName(name) else {
            throw wrong("the name of the slot has characters that cannot be shown")
        }
        let word = String(parts[2])
        let publicKey = try bytes(try words("public", 1)[0], count: KeyAgreement.keySize)
        let way = try way(word)
        var sealed: [HPKE.Sealed] = []
        for epoch in epochs {
            let words = try words("sealed", 3)
            guard try self.number(words[0]) == epoch else {
                throw wrong("the sealed data key has another number")
            }
            sealed.append(
                HPKE.Sealed(
                    encapsulation: try bytes(words[1], count: KeyAgreement.keySize),
                    ciphertext: try bytes(words[2], count: HPKE.Sealed.size(of: 32))))
        }
        return KeyringDocument.Slot(
            number: number, way: way, name: name, publicKey: publicKey, sealed: sealed)
    }

    private mutating func way(_ word: String) throws(Failure) -> KeyringDocument.Way {
        switch word {
        case "raw": return .rawKey
        case "recovery": return .recoveryKey
        case "recipient": return .recipient
        case "command":
            let parts = try line().split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard parts[0] == "command", (2...3).contains(parts.count) else {
                throw wrong("a line 'command' was expected")
            }
            let challenge = try bytes(parts[1], count: KeyringDocument.challengeSize)
            guard parts.count == 3 else { return .command(challenge: challenge, token: []) }
            let size = parts[2].utf8.count / 2
            guard (1...KeyringDocument.tokenLimit).contains(size) else {
                throw wrong("the token is empty, or too long")
            }
            return .command(challenge: challenge, token: try bytes(parts[2], count: size))
        case "passphrase":
            let words = try words("scrypt", 4)
            var numbers: [Int] = []
            for word in words[..<3] { numbers.append(Int(clamping: try number(word))) }
            let cost = PassphraseStretching.Cost(
                logarithm: numbers[0], blockSize: numbers[1], parallelism: numbers[2])
            guard cost.isAcceptable else {
                throw wrong("the cost of the key derivation is too high or too low")
            }
            return .passphrase(cost, salt: try bytes(words[3], count: KeyringCode.saltSize))
        default: throw wrong("the kind of slot is unknown")
        }
    }

    // MARK: - Lines

    private func wrong(_ words: String) -> Failure { .line(words, version: nil) }

    private func hash(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
        do throws(CryptographyFailure) { return try Digest.sha256(bytes) } catch {
            throw .cryptography(error)
        }
    }

    /// The first word of the next line; empty at the end.
    private var nextWord: String {
        String(decoding: text[offset...].prefix(16).prefix { $0 > 0x20 }, as: UTF8.self)
    }

    private mutating func line() throws(Failure) -> String {
        lineNumber += 1
        guard let end = text[offset...].firstIndex(of: UInt8(ascii: "\n")) else {
            throw wrong("the text ends here")
        }
        guard let line = String(validating: text[offset..<end], as: UTF8.self) else {
            throw wrong("this is not valid UTF-8")
        }
        offset = end + 1
        return line
    }

    /// Returns the words after the first one of a line, which must be the given word.
    private mutating func words(_ first: String, _ count: Int) throws(Failure) -> [String] {
        let parts = try line().split(separator: " ", omittingEmptySubsequences: false)
        guard parts.first.map(String.init) == first, parts.count == count + 1 else {
            throw wrong("a line '\(first)' was expected")
        }
        return parts.dropFirst().map(String.init)
    }

    private func number(_ word: String) throws(Failure) -> UInt64 {
        guard let number = UInt64(word), String(number) == word, number < UInt64.max else {
            throw wrong("this is not a number")
        }
        return number
    }

    private func count(_ word: String) throws(Failure) -> UInt64 {
        let count = try number(word)
        guard count <= KeyringDocument.highestCount else { throw wrong("the number is too large") }
        return count
    }

    private func bytes(_ word: String, count: Int) throws(Failure) -> [UInt8] {
        let digits = Array(word.utf8)
        guard digits.count == 2 * count else { throw wrong("\(count) bytes were expected") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for index in 0..<count {
            guard let high = KeyringLines.value(digits[2 * index]),
                let low = KeyringLines.value(digits[2 * index + 1])
            else {
                throw wrong("lowercase hexadecimal digits were expected")
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
