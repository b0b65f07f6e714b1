import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Work on many pages at once")
struct BulkWorkTests {
    @Test("without lanes, files are verified and rotated by libcrypto alone")
    func libcrypto() async { await #expect(processExitsWith: .success) { try BulkWork.run("libcrypto") } }

    @Test("files are verified and rotated by AVX2", .enabled(if: PageLanes.available.contains(.avx2)))
    func avx2() async { await #expect(processExitsWith: .success) { try BulkWork.run("avx2") } }

    @Test("files are verified and rotated by AVX-512", .enabled(if: PageLanes.available.contains(.avx512)))
    func avx512() async { await #expect(processExitsWith: .success) { try BulkWork.run("avx512") } }

    @Test(
        "an error of a progress function ends a verification on any number of threads", arguments: [1, 2, 5])
    func stopped(threadCount: Int) throws {
        struct Stop: Error {}
        let directory = try TestDirectory()
        let file = try directory.makeFile(rows: 6000)
        var options = DatabaseFile.VerificationOptions()
        options.threadCount = threadCount
        for last in 0..<3 {
            var calls = 0
            #expect(throws: Stop.self) {
                try file.verify(key: Keys.old, options: options) { _ in
                    calls += 1
                    if calls > last { throw Stop() }
                }
            }
        }
    }

    @Test("an out-of-range number of threads is clamped to the valid range", arguments: [0, -3, .max, .min])
    func senseless(threadCount: Int) throws {
        let directory = try TestDirectory()
        let file = try directory.makeFile(rows: 60)
        var options = DatabaseFile.VerificationOptions()
        options.threadCount = threadCount
        #expect(try file.verify(key: Keys.old, options: options).isIntact)
        var rotation = DatabaseFile.RotationOptions()
        rotation.threadCount = threadCount
        rotation.lockTimeout = Patience.seconds
        #expect(try file.rotate(from: Keys.old, to: Keys.new, options: rotation).isChanged)
        #expect(try file.verify(key: Keys.new).isIntact)
    }
}

/// The work of a process whose lanes are all of one kind.
private enum BulkWork {
    static func run(_ lanes: String) throws {
        unsafe setenv("COFFER_PAGE_LANES", lanes, 1)
        try #require("\(PageLanes.current)" == lanes)
        for settings in [CipherSettings(), .sqlcipher(format: 3), .sqlcipher(format: 1)] {
            try verifyAndRotate(settings)
        }
        try #require("\(PageLanes.current)" == lanes, "libcrypto had another answer")
    }

    /// Finds the same damage with any number of threads, and makes copies that the stock shell verifies as
    /// intact.
    private static func verifyAndRotate(_ settings: CipherSettings) throws {
        let directory = try TestDirectory()
        let file = try directory.makeFile(rows: 6000) { $0.cipher = settings }
        let (content, intact) = try (
            directory.content(key: Keys.old) { $0.cipher = settings }, directory.bytes(of: "a.db")
        )
        let pageCount = intact.count / settings.pageSize
        try #require(intact.count > 3 << 20)
        var bytes = intact
        var damaged: [Int] = []
        // A zeroed page that is in use, changed pages in a row, and others far apart.
        for page in [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, pageCount / 2, pageCount - 1, pageCount]
            + (1...20).map({ _ in Int.random(in: 12...pageCount) })
        {
            guard !damaged.contains(page) else { continue }
            bytes[(page - 1) * settings.pageSize + Int.random(in: 0..<settings.pageSize - 80)] ^= 1
            damaged.append(page)
        }
        for threadCount in [1, 2, 5] {
            var options = DatabaseFile.VerificationOptions()
            options.cipher = settings
            options.threadCount = threadCount
            try directory.write(intact, to: "a.db")
            var last = 0
            let whole = try file.verify(key: Keys.old, options: options) {
                if $0.phase == .verifying { last = $0.completedPageCount }
            }
            try #require(whole.isIntact && last == pageCount)
            try directory.write(bytes, to: "a.db")
            if settings.usesHMAC {
                try #require(
                    try file.verify(key: Keys.old, options: options).damagedPages == damaged.sorted())
            }
        }
        for (threadCount, keys) in [
            (1, (Keys.old, Keys.new)), (2, (Keys.new, Keys.old)), (5, (Keys.old, Keys.new)),
        ] {
            if threadCount == 1 { try directory.write(intact, to: "a.db") }
            var options = DatabaseFile.RotationOptions()
            options.cipher = settings
            options.threadCount = threadCount
            options.lockTimeout = Patience.seconds
            try #require(
                try file.rotate(from: keys.0, to: keys.1, options: options).proof?.isContentEqual == true)
        }
        try #require(try directory.content(key: Keys.new) { $0.cipher = settings } == content)
        if settings == CipherSettings(), SQLCipherShell.isAvailable {
            let shell = SQLCipherShell(path: directory.path("a.db"), rawKey: Keys.newBytes)
            try #require(try shell.run("PRAGMA cipher_integrity_check; PRAGMA integrity_check;") == ["ok"])
        }
    }
}
