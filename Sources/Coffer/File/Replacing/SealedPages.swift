internal import Dispatch
internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization
internal import SystemCalls

internal import Glibc

/// A new encrypted file, which the engine writes and reads as if it were not encrypted. Pages are sealed in
/// batches, with vector instructions if available, before they leave the memory of the process. Another
/// thread seals them while the engine produces the next ones.
///
/// The caller that publishes the file verifies each page again, independently.
final class SealedPages: WritableBytes {
    /// The contents of consecutive pages.
    private struct Row {
        var first = 1
        var count = 0
        var contents: [UInt8]

        /// Returns the range of a page in `contents`, or nil if the page is not in the row.
        func place(of number: Int, _ pageSize: Int) -> Range<Int>? {
            guard number >= first, number < first + count else { return nil }
            return (number - first) * pageSize..<(number - first + 1) * pageSize
        }
    }

    /// The contents of pages that wait to be stored, in the order in which they were written.
    private struct Batch {
        private(set) var numbers: [Int] = []
        /// The greatest page number.
        private(set) var last = 0
        var contents: [UInt8]

        init(contents: [UInt8]) { self.contents = contents }

        /// Returns the range of a page in `contents`, or nil if the page is not in the batch.
        func place(of number: Int, _ pageSize: Int) -> Range<Int>? {
            // Searches from the end: a page is usually written again soon.
            numbers.lastIndex(of: number).map { $0 * pageSize..<($0 + 1) * pageSize }
        }

        /// - Returns: the range of a page that is not in the batch yet.
        mutating func add(_ number: Int, _ pageSize: Int) -> Range<Int> {
            numbers.append(number)
            last = max(last, number)
            return (numbers.count - 1) * pageSize..<numbers.count * pageSize
        }

        mutating func removeAll() {
            numbers.removeAll(keepingCapacity: true)
            last = 0
        }
    }

    private let file: HeldFile
    private let sealing: PageSealing
    private let opener: BulkCipher
    private let pageSize: Int
    /// The number of reserved bytes at the end of each page.
    private let reserve: Int
    /// The maximum number of pages that wait, and that are read ahead.
    private let most: Int

    /// The pages that the engine has written and that are not in the file yet.
    private var waiting: Batch
    /// The pages that were read ahead for the engine.
    private var ahead: Row
    /// Pages in their stored form, before decryption.
    private var stored: [UInt8]
    /// The number of pages that are stored or being stored.
    private var storedCount = 0

    /// - Parameters:
    ///   - file: empty.
    ///   - protection: with a key.
    init(_ file: HeldFile, _ protection: FileProtection) throws {
        let salt = try protection.saltForNewFile()
        guard let settings = protection.ring?.settings, let material = try protection.material(fileSalt: salt)
        else {
            throw EngineError.misuse("A file without a key has no sealed pages")
        }
        let layout = PageCipher.Layout(settings)
        self.file = file
        sealing = try PageSealing(file, material, layout, salt: salt)
        opener = try BulkCipher(key: material.secret.bytes, salt: salt, layout: layout)
        pageSize = layout.pageSize
        reserve = layout.reserve
        most = max(1, 1 << 19 / layout.pageSize)
        let empty = [UInt8](repeating: 0, count: most * layout.pageSize)
        stored = empty
        waiting = Batch(contents: empty)
        ahead = Row(contents: empty)
    }

    /// Opens a connection that writes without a journal.
    func open() throws -> EngineConnection {
        let connection = try FileView.open(writing: self)
        let handle = connection.handle
        try handle.execute(trusted: "PRAGMA page_size = \(pageSize)")
        try handle.reserve(bytesPerPage: reserve)
        guard try handle.firstText(trusted: "PRAGMA main.journal_mode = OFF") == "off" else {
            throw EngineError(code: EngineCode.error, message: "The copy cannot be written without a journal")
        }
        // Sorts that do not fit in memory spill to temporary files, which the view encrypts.
        try handle.execute(
            """
            PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -8000;
            PRAGMA cell_size_check = ON
            """)
        return connection
    }

    deinit { sealing.close() }

    // MARK: - As the engine sees it

    var size: Int64 { Int64(max(storedCount, waiting.last)) * Int64(pageSize) }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        let count = Int(max(0, min(Int64(target.count), size - offset)))
        var done = 0
        while done < count {
            let position = offset + Int64(done)
            let (number, start) = (Int(position / Int64(pageSize)) + 1, Int(position % Int64(pageSize)))
            let length = min(count - done, pageSize - start)
            if let place = waiting.place(of: number, pageSize)?.lowerBound {
                let contents = waiting.contents
                target.copy(
                    contents.span.extracting(place + start..<place + start + length), at: done)
            } else {
                let place = try readAhead(number).lowerBound
                let contents = ahead.contents
                target.copy(
                    contents.span.extracting(place + start..<place + start + length), at: done)
            }
            done += length
        }
        return done
    }

    /// - Returns: the range of a stored page in the read-ahead buffer.
    private func readAhead(_ number: Int) throws -> Range<Int> {
        if let place = ahead.place(of: number, pageSize) { return place }
        // A page beyond the stored ones that is not waiting was never written: it is a gap between the
        // waiting pages.
        let code = number > storedCount ? flush() : sealing.end()
        guard code == 0 else { throw EngineError(code: EngineCode.ioError, message: "errno \(code)") }
        // Tables are usually read in the order in which they were written.
        let count = min(number == ahead.first + ahead.count ? most : 1, storedCount - number + 1)
        ahead.count = 0
        guard count > 0 else {
            throw EngineError.corrupt("Page \(number) was never written")
        }
        let part = 0..<count * pageSize
        let done = try stored.withPart(part) {
            try file.read(at: Int64(number - 1) * Int64(pageSize), into: &$0)
        }
        let stored = stored
        let pages = stored.span.extracting(part)
        let first = UInt32(truncatingIfNeeded: number)
        let zeros = (0..<count).filter {
            pages.extracting($0 * pageSize..<($0 + 1) * pageSize).isZero
        }
        // A page of zeros is a hole in the file: a later page was written before this one.
        guard done == part.count,
            try opener.unauthentic(pages, first: first).allSatisfy({ zeros.contains(Int($0 &- first)) })
        else {
            throw EngineError.corrupt("Page \(number) does not have the content that was written")
        }
        try ahead.contents.withPart(part) { try opener.decrypt(pages, first: first, into: &$0) }
        for index in zeros { ahead.contents.clear(index * pageSize..<(index + 1) * pageSize) }
        if number == 1 {
            let magic = DatabaseHeader.magic
            ahead.contents.copy(magic.span)
        }
        (ahead.first, ahead.count) = (number, count)
        return 0..<pageSize
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) -> CInt {
        guard bytes.count == pageSize, offset.isMultiple(of: Int64(pageSize)) else { return EIO }
        let number = Int(offset / Int64(pageSize)) + 1
        if ahead.place(of: number, pageSize) != nil { ahead.count = 0 }
        if let place = waiting.place(of: number, pageSize) {
            waiting.contents.copy(bytes, at: place.lowerBound)
            return 0
        }
        if waiting.numbers.count == most {
            let code = beginFlush()
            guard code == 0 else { return code }
        }
        let place = waiting.add(number, pageSize)
        waiting.contents.copy(bytes, at: place.lowerBound)
        return 0
    }

    func truncate(to size: Int64) -> CInt {
        let code = flush()
        guard code == 0 else { return code }
        storedCount = min(storedCount, Int(size / Int64(pageSize)))
        ahead.count = 0
        return file.truncate(to: size)
    }

    // MARK: - As it is stored

    /// Writes the waiting pages. Returns 0 or an `errno`.
    func flush() -> CInt {
        let code = beginFlush()
        return code == 0 ? sealing.end() : code
    }

    /// Starts to write the waiting pages after the earlier ones are complete. Returns 0, or the `errno` of
    /// the earlier write.
    private func beginFlush() -> CInt {
        let code = sealing.end()
        guard code == 0, !waiting.numbers.isEmpty else { return code }
        // The read-ahead buffer may be stale.
        if waiting.numbers.contains(where: { ahead.place(of: $0, pageSize) != nil }) { ahead.count = 0 }
        sealing.begin(&waiting.contents, waiting.numbers)
        storedCount = max(storedCount, waiting.last)
        waiting.removeAll()
        return 0
    }
}

/// Seals pages and writes them, consecutive ones in one call, while the thread that produced them continues.
///
/// No free thread is assumed: if no thread has begun the work when its result is needed, the waiting thread
/// does it. Only one thread may use an instance.
private final class PageSealing: Sendable {
    private struct Work {
        let file: HeldFile
        let sealer: BulkSealer
        let layout: PageCipher.Layout
        /// The contents of the pages, and their stored form.
        var contents: [UInt8] = []
        var stored: [UInt8] = []
        var numbers: [Int] = []
        /// The result of the last write: 0 or an `errno`.
        var code: CInt = 0

        init(
            _ file: HeldFile, _ material: KeyRing.Material, _ layout: PageCipher.Layout, salt: [UInt8]
        ) throws {
            self.file = file
            self.layout = layout
            sealer = try BulkSealer(key: material.secret.bytes, salt: salt, layout: layout)
        }

        mutating func perform() { code = write() }

        private mutating func write() -> CInt {
            let size = numbers.count * layout.pageSize
            if stored.count < size { stored = [UInt8](repeating: 0, count: size) }
            guard let reserves = try? SystemRandomness.bytes(count: numbers.count * layout.reserve) else {
                return EIO
            }
            var start = 0
            while start < numbers.count {
                var end = start + 1
                while end < numbers.count, numbers[end] == numbers[end - 1] + 1 { end += 1 }
                let code = write(start..<end, reserves)
                guard code == 0 else { return code }
                start = end
            }
            return 0
        }

        /// Writes a range of the pages, whose numbers are consecutive.
        private mutating func write(_ range: Range<Int>, _ reserves: [UInt8]) -> CInt {
            let (first, pageSize) = (numbers[range.lowerBound], layout.pageSize)
            let part = range.lowerBound * pageSize..<range.upperBound * pageSize
            let reserved = range.lowerBound * layout.reserve..<range.upperBound * layout.reserve
            let contents = contents
            do {
                try stored.withPart(part) { target in
                    try sealer.seal(
                        contents.span.extracting(part), first: UInt32(truncatingIfNeeded: first),
                        reserves: reserves.span.extracting(reserved), into: &target)
                }
            } catch {
                return EIO
            }
            // SQLite never uses the lock page.
            let lockPage = DatabaseHeader.lockPage(pageSize: pageSize)
            if first <= lockPage, lockPage < first + range.count {
                let place = part.lowerBound + (lockPage - first) * pageSize
                stored.clear(place..<place + pageSize)
            }
            let pages = stored
            return file.write(pages.span.extracting(part), at: Int64(first - 1) * Int64(pageSize))
        }
    }

    /// Nil after ``close()``.
    private let work: Mutex<Work?>
    private let isBegun = Atomic<Bool>(true)
    private let queue = DispatchQueue(label: "Coffer.PageSealing")
    private let group = DispatchGroup()

    init(
        _ file: HeldFile, _ material: KeyRing.Material, _ layout: PageCipher.Layout, salt: [UInt8]
    ) throws {
        work = Mutex(try Work(file, material, layout, salt: salt))
    }

    /// Waits for all writes, and releases the file.
    ///
    /// The queue's thread may run after the waiting thread has done its work, and retains this object until
    /// then. The file may have its final place by that time, so its descriptor must be closed here.
    func close() {
        _ = end()
        work.withLock { $0 = nil }
    }

    /// Starts to write pages. The previous write must have ended.
    ///
    /// - Parameters:
    ///   - contents: exchanged for another buffer of the same size.
    ///   - numbers: the page numbers, in the order of the contents.
    func begin(_ contents: inout [UInt8], _ numbers: [Int]) {
        var pages: [UInt8] = []
        swap(&pages, &contents)
        let size = pages.count
        contents = work.withLock { work in
            var room: [UInt8] = []
            if var begun = work.take() {
                swap(&room, &begun.contents)
                (begun.contents, begun.numbers) = (pages, numbers)
                work = begun
            }
            return room
        }
        if contents.count < size { contents = [UInt8](repeating: 0, count: size) }
        group.enter()
        isBegun.store(false, ordering: .releasing)
        queue.async { self.perform() }
    }

    /// Waits for all writes. Returns 0, or the `errno` of the last write.
    func end() -> CInt {
        perform()
        group.wait()
        return work.withLock { $0?.code ?? EBADF }
    }

    private func perform() {
        guard !isBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        work.withLock { $0?.perform() }
        group.leave()
    }
}

extension FileProtection {
    /// Fills a new encrypted file through a connection that does not know about the encryption.
    ///
    /// - Parameter path: the path for error messages.
    func fillSealed<Result>(
        _ file: HeldFile, _ path: String, _ body: (ConnectionHandle) throws -> Result
    ) throws -> Result {
        let pages = try SealedPages(file, self)
        let result: Result
        do {
            result = try FileProtection.fill(path, pages.open(), body)
        } catch let error as EngineError where error.primaryCode == EngineCode.ioError {
            // A write failed on another thread: the engine notices on its next read, but does not know the
            // reason.
            throw Errno(pages.flush()).isOutOfSpace ? DatabaseFileError(.diskFull, path: path) : error
        }
        let code = pages.flush()
        guard code == 0 else { throw SystemFile.failure("pwrite", path, errno: code) }
        return result
    }
}
