internal import SQLCipherBridge

/// Looks through the pages of a file that is only in its main file: no log, no journal, nobody who writes.
enum PageScan {
    /// The pages that are not authentic, or are zeros without being free; none where pages carry no codes.
    static func damagedPages(_ handle: ConnectionHandle, _ protection: FileProtection) throws -> [Int] {
        let file = try PageFile(handle, protection)
        var damaged: [Int] = []
        var zeros: [Int] = []
        unsafe try file.forEachPage { page, number in
            if unsafe file.isEncrypted && PageFile.isZero(page) {
                zeros.append(number)
            } else if unsafe try !file.authenticates(page, number: number) {
                damaged.append(number)
            }
        }
        guard !zeros.isEmpty else { return damaged }
        let free = try file.freeLeafPages()
        return (damaged + zeros.filter { !free.contains($0) }).sorted()
    }
}
