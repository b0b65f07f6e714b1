internal import ArgumentParser

/// One of several shards of a manifest, one for each machine: `2/8` is the second of eight.
///
/// The shard of a file depends only on its path as spelled in the manifest, not on its line, on the other
/// files or on the machine.
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

    /// - Throws: ``Failure`` with the status `usage` if the number is not from 1 to `count`.
    init(number: Int, of count: Int) throws(Failure) {
        guard let shard = Shard(argument: "\(number)/\(count)") else {
            throw Failure(.usage, "shard", "There is no shard \(number) of \(count).")
        }
        self = shard
    }

    /// Parses a number. It accepts digits only: `Int` would also accept a sign.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(text)
        else {
            return nil
        }
        return (1...10_000).contains(number) ? number : nil
    }

    var defaultValueDescription: String { "\(number)/\(count)" }

    /// The suffix for the name of this shard's state file. It keeps apart the shards of a manifest that
    /// several machines share.
    var suffix: String { "shard-\(number)-of-\(count)" }

    /// - Throws: ``Failure`` if the hash cannot be computed.
    func has(_ path: String) throws(Failure) -> Bool {
        let digits = try AuditSeal.plain.hash(Array(path.utf8)[...]).prefix(15)
        return Int(digits, radix: 16).map { $0 % count == number - 1 } ?? false
    }
}
