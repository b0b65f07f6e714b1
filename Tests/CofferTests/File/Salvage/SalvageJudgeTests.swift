import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// Compares salvage with the shell's own `.recover`. That command cannot read encrypted files, so it gets the
/// decrypted pages, with the same page destroyed.
///
/// The comparison uses the `sqlcipher` shell. Debian's `sqlite3` has the command, but its library lacks the
/// table that the command needs.
@Suite(
    "Salvaging, compared with the shell's .recover",
    .enabled(if: SQLCipherShell.isAvailable, "there is no sqlcipher shell here to judge"))
struct SalvageJudgeTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "if any page is destroyed, at least the rows of .recover are salvaged, and no row is invented"
    )
    func eachPage() throws {
        let vault = try TokenVault(in: directory)
        #expect((280...340).contains(vault.pageCount), "\(vault.pageCount)")
        let before = Set(try TokenVault.tokens(of: vault.file.shell))
        let everything = Set(TokenVault.tokens(String(decoding: vault.plaintext, as: UTF8.self)))
        let kinds = try vault.kinds()
        var lost: [String: (pages: Int, ours: Int, theirs: Int)] = [:]
        var options = DatabaseFile.SalvageOptions()
        options.salt = Array(vault.stored.prefix(16))
        // The short run covers the first page and one page of each kind.
        var seen: Set<String> = []
        for page in 1...vault.pageCount {
            let kind = page == 1 ? "first" : kinds[page] ?? "free"
            guard seen.insert(kind).inserted || Nightly.isOn else { continue }
            let range = (page - 1) * TokenVault.pageSize..<page * TokenVault.pageSize
            var stored = vault.stored
            for index in range { stored[index] = stored[index] &* 31 &+ 7 }
            try vault.write(stored, to: vault.file.path)
            let salvage = try DatabaseFile(path: vault.file.path).salvage(
                key: .rawKey(ShellFile.key), to: directory.path("new.db"), options: options)
            let shell = SQLCipherShell(path: directory.path("new.db"), rawKey: ShellFile.key)
            let list = try TokenVault.tokens(of: shell)
            let ours = Set(list)
            #expect(try shell.run("PRAGMA integrity_check") == ["ok"])
            try FileManager.default.removeItem(atPath: directory.path("new.db"))

            var plaintext = vault.plaintext
            for index in range { plaintext[index] = 0 }
            try vault.write(plaintext, to: directory.path("plain.db"))
            let text = try? SQLCipherShell(plaintextPath: directory.path("plain.db")).run(".recover")
            let theirs = Set(
                TokenVault.tokens((text ?? []).filter { !$0.contains("words_data") }.joined(separator: "\n"))
            )
            .intersection(before)

            #expect(
                ours.isSuperset(of: theirs),
                "page \(page), \(kind): \(theirs.subtracting(ours).sorted().prefix(5)) \(salvage)")
            // If the free list is lost, the tables for lost rows include rows of free pages.
            #expect(
                ours.isSubset(of: salvage.lostRowCount > 0 ? everything : before), "page \(page), \(kind)")
            if salvage.lostRowCount == 0 {
                #expect(ours.count == list.count, "page \(page), \(kind): rows are there twice")
            }
            if page > 1 { #expect(salvage.damagedPages == [page]) }
            let sum = lost[kind] ?? (0, 0, 0)
            lost[kind] = (
                sum.pages + 1, sum.ours + before.subtracting(ours).count,
                sum.theirs + before.subtracting(theirs).count
            )
        }
        #expect(lost.count >= 20, "\(lost.keys.sorted())")
        for (kind, sum) in lost.sorted(by: { $0.key < $1.key }) {
            print(
                "destroyed: \(kind), \(sum.pages) pages, words lost: \(sum.ours), by .recover \(sum.theirs)")
        }
    }

    @Test(
        "with many damaged pages, each row on an intact page is salvaged once, and no row is invented")
    func randomDamage() throws {
        var random = SeededRandom("salvage by words")
        let vault = try TokenVault(
            in: directory, addition: "DROP INDEX item_title; DROP INDEX owner_name; DROP TABLE words;")
        let before = Set(try TokenVault.tokens(of: vault.file.shell))
        // Words that occur on a single page locate their row.
        var place: [String: Int] = [:]
        for page in 1...vault.pageCount {
            let range = (page - 1) * TokenVault.pageSize..<page * TokenVault.pageSize
            for token in Set(TokenVault.tokens(String(decoding: vault.plaintext[range], as: UTF8.self)))
                .intersection(before)
            {
                place[token] = place[token] == nil ? page : 0
            }
        }
        // The end of a row may be on another page than its beginning.
        place = place.filter { $0.value > 0 && !$0.key.hasSuffix("-z") }
        #expect(place.count > 2_500, "\(place.count)")
        for number in 0..<Nightly.pick(500, byDay: 6) {
            var damaged: Set<Int> = []
            let share = Double.random(in: 0.01...0.5, using: &random)
            for page in 2...vault.pageCount where Double.random(in: 0..<1, using: &random) < share {
                damaged.insert(page)
            }
            var stored = vault.stored
            for page in damaged {
                stored[(page - 1) * TokenVault.pageSize + Int.random(in: 0..<4096, using: &random)] ^= 0x40
            }
            try vault.write(stored, to: vault.file.path)
            let salvage = try DatabaseFile(path: vault.file.path).salvage(
                key: .rawKey(ShellFile.key), to: directory.path("new.db"))
            #expect(salvage.damagedPages == damaged.sorted(), "\(number)")
            let shell = SQLCipherShell(path: directory.path("new.db"), rawKey: ShellFile.key)
            let lines = try shell.run(".dump")
            let ofTables = TokenVault.tokens(
                lines.filter { !$0.hasPrefix("INSERT INTO lost_and_found") }.joined(separator: "\n"))
            let all = TokenVault.tokens(lines.joined(separator: "\n"))
            #expect(Set(ofTables).count == ofTables.count && Set(ofTables).isSubset(of: before), "\(number)")
            #expect(
                Set(all.filter { before.contains($0) }).count == all.count { before.contains($0) },
                "\(number): a row is there twice")
            let expected = Set(place.filter { !damaged.contains($0.value) }.keys)
            #expect(
                expected.isSubset(of: all),
                "\(number): \(expected.subtracting(all).sorted().prefix(5)) \(salvage)")
            #expect(try shell.run("PRAGMA integrity_check") == ["ok"], "\(number)")
            try FileManager.default.removeItem(atPath: directory.path("new.db"))
        }
    }
}
