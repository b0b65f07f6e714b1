internal import ArgumentParser

/// One of several shares of a manifest, for as many machines: `2/8` is the second one of eight.
///
/// To which share a file belongs depends on its path as the manifest has it, and on nothing else: not on its
/// line, nor on the other files, nor on the machine.
struct Shard: ExpressibleByArgument, Equatable {
    let number: Int
    let count: Int

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Shard.number(parts[0]), let count = Shard.number(parts[1]),
            number <= count
        else { return nil }
        (self.number, self.count) = (number, count)
    }

    /// - Throws: a usage failure for a number that is not from 1 to `count`.
    init(number: Int, of count: Int) throws(Failure) {
        guard let shard = Shard(argument: "\(number)/\(count)") else {
            throw Failure(.usage, "shard", "There is no share \(number) of \(count).")
        }
        self = shard
    }

    /// Digits only: `Int` would also take a sign.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(text)
        else {
            return nil
        }
        return (1...10_000).contains(number) ? number : nil
    }

    var defaultValueDescription: String { "\(number)/\(count)" }

    /// What the state of this share is called, beside a manifest that others may have open as well.
    var suffix: String { "shard-\(number)-of-\(count)" }

    /// - Throws: ``Failure`` where the hash cannot be computed.
    func has(_ path: String) throws(Failure) -> Bool {
        let digits = try AuditSeal.plain.hash(Array(path.utf8)[...]).prefix(15)
        return Int(digits, radix: 16).map { $0 % count == number - 1 } ?? false
    }
}
