import Foundation

/// Bytes to search for in the memory of a process. They are stored masked, so the search does not find the
/// needle itself.
public struct MemoryNeedle: Sendable {
    private static let mask: UInt8 = 0x5a
    private let masked: [UInt8]

    /// - Parameter bytes: the bytes to search for. The caller wipes them.
    public init(_ bytes: UnsafeRawBufferPointer) { unsafe masked = bytes.map { $0 ^ MemoryNeedle.mask } }

    /// - Parameter text: the ``text`` of a needle, possibly one from another process.
    public init?(text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
        var masked: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
            else { return nil }
            masked.append(byte)
        }
        self.masked = masked
    }

    /// The masked bytes in hexadecimal digits.
    public var text: String { masked.map { String(format: "%02x", $0) }.joined() }

    /// Returns the number of occurrences in the writable memory of this process: its heaps, stacks and
    /// globals, and memory that has been freed but is still mapped.
    public func count() throws -> Int {
        var count = 0
        for line in try MemoryNeedle.mappings().split(separator: "\n") {
            let words = line.split(separator: " ")
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard words[1].hasPrefix("rw"), ends.count == 2,
                let start = unsafe UnsafeRawPointer(bitPattern: ends[0])
            else { continue }
            unsafe count += find(in: UnsafeRawBufferPointer(start: start, count: Int(ends[1] - ends[0])))
        }
        return count
    }

    /// Returns the complete list of mappings. Every read returns only a part, at which a function that reads
    /// a whole file would stop.
    private static func mappings() throws -> String {
        guard let file = FileHandle(forReadingAtPath: "/proc/self/maps") else {
            throw CocoaError(.fileReadNoSuchFile)
        }
        defer { try? file.close() }
        var data = Data()
        while let part = try file.read(upToCount: 4096), !part.isEmpty { data += part }
        let text = String(decoding: data, as: UTF8.self)
        guard text.contains("[stack]") else { throw CocoaError(.fileReadCorruptFile) }
        return text
    }

    private func find(in memory: UnsafeRawBufferPointer) -> Int {
        guard let base = memory.baseAddress, let first = masked.first else { return 0 }
        var (count, offset) = (0, 0)
        while offset + masked.count <= memory.count {
            let rest = memory.count - offset - masked.count + 1
            guard let found = unsafe memchr(base + offset, CInt(first ^ MemoryNeedle.mask), rest) else {
                break
            }
            offset = unsafe UnsafeRawPointer(found) - base
            var index = 1
            while index < masked.count,
                unsafe base.load(fromByteOffset: offset + index, as: UInt8.self) ^ MemoryNeedle.mask
                    == masked[index]
            {
                index += 1
            }
            if index == masked.count { count += 1 }
            offset += 1
        }
        return count
    }
}
