import Foundation

@testable import Coffer

/// Mutates plaintext databases, as an attacker with the key could, and salvages them. Regardless of their
/// content, salvage must end without a trap and without a report of the sanitizer.
///
/// `pages SEED COUNT FILE... FOLDER`: Reads trees and stray pages of mutated files until `COUNT` pages have
/// been mutated. `files SEED COUNT FILE... FOLDER`: Salvages `COUNT` mutated files and verifies the results.
/// `cases CASES FOLDER`: Salvages the files in the folder CASES unchanged, for example the fuzz cases of
/// SQLite's sources.
struct Mutation {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((z ^ (z >> 31)) % UInt64(max(1, bound)))
    }

    /// Changes bytes of a page, most often in its header, whose fields lead to other bytes.
    mutating func mutate(_ bytes: inout [UInt8], page: Int, size: Int) {
        let start = page * size
        for _ in 0..<1 + next(4) {
            let place = start + (next(2) == 0 ? next(min(size, 64)) : next(size))
            // The page size is not changed, because with a wrong one nothing can be read.
            guard place >= 24, place < bytes.count else { continue }
            switch next(8) {
            case 0: bytes[place] = UInt8(next(256))
            case 1: bytes[place] = 0xff
            case 2: bytes[place] = [0x02, 0x05, 0x0a, 0x0d, 0][next(5)]
            case 3: for index in place..<min(bytes.count, place + 9) { bytes[index] = 0xff }
            case 4:
                for index in place..<min(bytes.count, place + 4) {
                    bytes[index] = index == place + 3 ? UInt8(next(64)) : 0
                }
            case 5: bytes[place] ^= 1 << UInt8(next(8))
            case 6:
                // Copies a part of another page.
                let count = min(1 + next(size), bytes.count - place)
                let from = next(max(1, bytes.count - count))
                bytes.replaceSubrange(place..<place + count, with: Array(bytes[from..<from + count]))
            default:
                for index in place..<min(bytes.count, place + 1 + next(40)) {
                    bytes[index] = UInt8(next(256))
                }
            }
        }
    }
}

func readEverything(_ path: String) throws -> Int {
    let pages = try SalvagedPages(PageFile(StoredView(path, pageSize: nil, timeout: 0), .plaintext))
    let reader = TreeReader(pages)
    let schema = try SalvagedSchema(reader, pages.header())
    var rows = 0
    for entry in schema.entries where entry.root > 0 {
        let isTable = try pages.tree(entry.root)?.kind.isOfTable ?? true
        rows += try reader.read(root: entry.root, isTable: isTable) { _ in rows += 1 }.rowCount
    }
    _ = try pages.forEachFreePage(reader.setFree)
    for number in 1...max(1, pages.pageCount) where !reader.isTaken(number) {
        guard let content = try pages.content(number) else { continue }
        for isTable in [true, false] {
            rows += try reader.strayRows(onPage: number, content, isTable: isTable)?.rows.count ?? 0
        }
    }
    return rows
}

/// Salvages databases into a folder and counts rejected ones.
struct Salvager {
    let folder: String
    private(set) var refused: [String: Int] = [:]
    private let key = DatabaseKey.rawKey([UInt8](repeating: 0x51, count: 32))

    init(folder: String) { self.folder = folder }

    /// - Throws: an error if the result is not intact, or if a rejected salvage leaves anything behind.
    mutating func salvage(_ bytes: [UInt8], includesFreePages: Bool) throws {
        var options = DatabaseFile.SalvageOptions()
        options.includesFreePages = includesFreePages
        var look = DatabaseFile.VerificationOptions()
        look.structure = .none
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "/mutated.db"))
        do {
            _ = try DatabaseFile(path: folder + "/mutated.db").salvage(
                key: nil, to: folder + "/new.db", newKey: key, options: options)
            guard try DatabaseFile(path: folder + "/new.db").verify(key: key, options: look).isIntact else {
                throw CocoaError(.fileReadCorruptFile)
            }
            try FileManager.default.removeItem(atPath: folder + "/new.db")
        } catch let error as DatabaseFileError {
            // The result of garbage may be rejected. One file of each kind is kept for inspection.
            let words = "\(error)".split(separator: ":").dropFirst().joined(separator: ":")
            if refused[words] == nil {
                try Data(bytes).write(to: URL(fileURLWithPath: folder + "/refused-\(refused.count).db"))
            }
            refused[words, default: 0] += 1
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            guard left.allSatisfy({ !$0.hasPrefix("new.db") && !$0.hasPrefix(".") }) else { throw error }
        }
    }

    func tell(_ count: Int) {
        print("\(count) files, \(refused.values.reduce(0, +)) refused")
        for (words, count) in refused.sorted(by: { $0.value > $1.value }).prefix(20) {
            print("  \(count) \(words)")
        }
    }
}

func run(_ arguments: [String]) throws {
    if arguments.first == "cases", arguments.count == 3 {
        var salvager = Salvager(folder: arguments[2])
        let names = try FileManager.default.contentsOfDirectory(atPath: arguments[1]).sorted()
        for (index, name) in names.enumerated() {
            let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: arguments[1] + "/" + name)))
            try salvager.salvage(bytes, includesFreePages: index.isMultiple(of: 2))
        }
        return salvager.tell(names.count)
    }
    guard arguments.count >= 5, let seed = UInt64(arguments[1]), let count = Int(arguments[2]) else {
        throw CocoaError(.featureUnsupported)
    }
    var mutation = Mutation(seed: seed)
    let folder = arguments[arguments.count - 1]
    let files = try arguments[3..<arguments.count - 1].map {
        try Array(Data(contentsOf: URL(fileURLWithPath: $0)))
    }
    var done = 0
    if arguments[0] == "pages" {
        var rows = 0
        while done < count {
            var bytes = files[mutation.next(files.count)]
            let size = FileHeader(size: nil, start: bytes).plaintextPageSize
            for page in 0..<bytes.count / size where mutation.next(3) > 0 {
                mutation.mutate(&bytes, page: page, size: size)
                done += 1
            }
            try Data(bytes).write(to: URL(fileURLWithPath: folder + "/pages.db"))
            rows += try readEverything(folder + "/pages.db")
        }
        return print("\(done) mutated pages, \(rows) rows read")
    }
    var salvager = Salvager(folder: folder)
    while done < count {
        var bytes = files[mutation.next(files.count)]
        let size = FileHeader(size: nil, start: bytes).plaintextPageSize
        for _ in 0..<1 + mutation.next(12) {
            mutation.mutate(&bytes, page: mutation.next(bytes.count / size), size: size)
        }
        if mutation.next(10) == 0 { bytes.removeLast(mutation.next(bytes.count - 1024)) }
        try salvager.salvage(bytes, includesFreePages: mutation.next(2) == 0)
        done += 1
    }
    salvager.tell(done)
}

do {
    try run(Array(CommandLine.arguments.dropFirst()))
} catch {
    print("failed: \(error)")
    exit(1)
}
