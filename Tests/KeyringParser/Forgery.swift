#if DEBUG
@testable import Coffer

/// A random number generator that produces the same sequence for the same seed (SplitMix64).
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &self) }
    mutating func byte() -> UInt8 { UInt8.random(in: 0...255, using: &self) }
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }
}

/// Forges keyring files from an intact one: by changing bytes, lines, or fields of the text, with a correct
/// checksum.
struct Forgery {
    let file: [UInt8]
    let document: KeyringDocument
    private let lines: [ArraySlice<UInt8>]

    init(_ file: [UInt8]) throws {
        self.file = file
        document = try KeyringText.read(file).document
        lines = file[..<(file.count / 2)].split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    func make(_ random: inout Random) throws -> [UInt8] {
        switch random.below(6) {
        case 0: return random.bytes(random.below(2000))
        case 1: return withBytes(&random)
        case 2: return withLines(&random)
        case 3: return cut(&random)
        default: return try KeyringText.file(of: forged(&random))
        }
    }

    /// Changes a few bytes, in one copy or in both.
    private func withBytes(_ random: inout Random) -> [UInt8] {
        var bytes = file
        for _ in 0...random.below(4) {
            let index = random.below(file.count / 2)
            let byte =
                Bool.random(using: &random)
                ? random.byte() : [0, 10, 32, 48, 255].randomElement(using: &random) ?? 0
            bytes[index] = byte
            if random.below(4) > 0 { bytes[index + file.count / 2] = byte }
        }
        return bytes
    }

    private func withLines(_ random: inout Random) -> [UInt8] {
        var mixed = lines
        switch random.below(5) {
        case 0:
            // Changes the key stretching cost that opening the slot requires.
            guard let index = mixed.firstIndex(where: { $0.starts(with: "scrypt ".utf8) }) else { break }
            let numbers = (0..<3).map { _ in
                [0, 1, 2, 8, 14, 20, 63, Int.max].randomElement(using: &random) ?? 0
            }
            mixed[index] =
                Array("scrypt \(numbers[0]) \(numbers[1]) \(numbers[2]) ".utf8)[...] + mixed[index].suffix(32)
        case 4: mixed.swapAt(random.below(mixed.count), random.below(mixed.count))
        case 1: mixed.insert(mixed[random.below(mixed.count)], at: random.below(mixed.count))
        case 2: mixed.remove(at: random.below(mixed.count))
        default: mixed = Array(repeating: mixed, count: 1 + random.below(20)).flatMap { $0 }
        }
        let text = Array(mixed.joined(separator: [UInt8(ascii: "\n")]))
        return text + text
    }

    private func cut(_ random: inout Random) -> [UInt8] {
        let start = random.below(file.count)
        var bytes = file
        bytes.removeSubrange(start..<(start + random.below(file.count - start)))
        return bytes
    }

    /// Forges a document as an attacker could with knowledge of the format, but without a key.
    private func forged(_ random: inout Random) -> KeyringDocument {
        var forged = document
        for _ in 0...random.below(3) {
            let slot = random.below(forged.slots.count)
            switch random.below(9) {
            case 0: forged.generation = [0, 1, 2, .max, random.next()].randomElement(using: &random) ?? 0
            case 1:
                forged.epochs =
                    [[], [0], [1, 2], [.max], [random.next()]].randomElement(using: &random) ?? []
            case 2: forged.id = random.bytes(random.below(40))
            case 3:
                forged.slots[slot].publicKey = random.bytes(
                    [0, 31, 32, 32, 32, 33].randomElement(using: &random) ?? 32)
            case 4: forged.slots[slot].name = String(decoding: random.bytes(random.below(80)), as: UTF8.self)
            case 5:
                forged.slots[slot].number = [0, 1, 99, 100, -1, Int.max].randomElement(using: &random) ?? 0
            case 6: forged.slots.append(forged.slots[slot])
            case 7: forged.codes = forged.codes.map { random.bytes($0.count) }
            default:
                forged.slots[slot].way =
                    [
                        .rawKey, .recipient, .recoveryKey,
                        .command(challenge: random.bytes(32), token: random.bytes(random.below(1100))),
                    ].randomElement(using: &random) ?? .rawKey
            }
            if forged.slots.isEmpty { return forged }
        }
        return forged
    }
}
#endif
