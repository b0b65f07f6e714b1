internal import SQLCipherBridge

/// Looks through the pages of a file that is only in its main file: no log, no journal, nobody who writes.
enum PageScan {
    /// The pages that are not authentic, or are zeros without being free; none where pages carry no codes.
    static func damagedPages(_ handle: ConnectionHandle, _ protection: FileProtection) throws -> [Int] {
        let file = try PageFile(handle, protection)
        var damaged: [Int] = []
        var zeros: [Int] = []
        let chunk = max(1, 1 << 20 / file.pageSize)
        for first in stride(from: 1, through: file.pageCount, by: chunk) {
            let count = min(chunk, file.pageCount - first + 1)
            let bytes = try file.read(first, count: count)
            for number in first..<first + count where number != file.lockPage {
                let range = (number - first) * file.pageSize..<(number - first + 1) * file.pageSize
                try unsafe bytes.withUnsafeBytes { bytes in
                    let page = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
                    if unsafe PageFile.isZero(page) {
                        zeros.append(number)
                    } else if unsafe try !file.authenticates(page, number: number) {
                        damaged.append(number)
                    }
                }
            }
        }
        guard !zeros.isEmpty else { return damaged }
        let free = try file.freeLeafPages()
        return (damaged + zeros.filter { !free.contains($0) }).sorted()
    }
}
