import Coffer
import Foundation

/// Stores this machine's package database in an encrypted file, and verifies each claim that the README makes
/// about such files.
///
/// The only argument is the folder to work in. A claim that does not hold ends the program with a message and
/// status 1.
@main
struct Demo {
    static func main() {
        do {
            guard CommandLine.arguments.count == 2 else { throw Failure("usage: Demo <folder>") }
            try Demo(folder: CommandLine.arguments[1]).run()
        } catch {
            FileHandle.standardError.write(Data("demo: \(error)\n".utf8))
            exit(1)
        }
    }

    let folder: String
    let passphrase =
        "a passphrase made for one run "
        + (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()

    var path: String { folder + "/packages.sqlite" }

    func configuration(_ key: DatabaseKey?) -> Configuration {
        var configuration = Configuration()
        configuration.key = key
        return configuration
    }

    func run() throws {
        let (packages, paths) = try step("read this machine's package database") {
            let found = (try InstalledPackage.all(), try InstalledPath.all())
            guard !found.0.isEmpty, found.1.count > 1_000 else {
                throw Failure("dpkg knows too few packages to show anything")
            }
            return (found, "\(found.0.count) packages, \(found.1.count) paths")
        }
        try step("store them encrypted, with a full-text index") {
            let catalog = try Catalog(path: path, configuration: configuration(.passphrase(passphrase)))
            try catalog.store(packages, paths)
            try catalog.queue.close()
            return (
                (),
                "\(packages.count + paths.count) rows in \(try Ciphertext(path: path).bytes.count / 1024) KiB"
            )
        }
        try readBack(packages, paths)
        try lookAtFile(packages)
        try openWithShell(packages, paths)
        try refuse("a wrong key", .passphrase(passphrase + "!"), expected: .wrongKey)
        try refuse("no key", nil, expected: .noKey)
    }

    func readBack(_ packages: [InstalledPackage], _ paths: [InstalledPath]) throws {
        let catalog = try step("open it again with the passphrase") {
            (
                try Catalog(path: path, configuration: configuration(.passphrase(passphrase))),
                "one key derivation"
            )
        }
        try step("read every row back and compare") {
            guard try catalog.packages() == packages else {
                throw Failure("the packages read are not those that were written")
            }
            guard try catalog.paths() == paths else {
                throw Failure("the paths read are not those that were written")
            }
            return ((), "all equal")
        }
        try step("search for what is typed: 'compres") {
            let found = try catalog.search("'compres")
            let expected = packages.filter { "\($0.name) \($0.description)".lowercased().contains("compres") }
                .map(\.name)
            guard !found.isEmpty, Set(found.map(\.name)).isSubset(of: expected),
                let match = found.first(where: { $0.snippet.contains("[") })
            else { throw Failure("the search found \(found)") }
            let snippet = match.snippet.split(whereSeparator: \.isNewline).joined(separator: " ")
            return (
                (),
                "\(found.count) packages: " + found.prefix(4).map(\.name).joined(separator: ", ")
                    + ", ...\n      \(match.name): \(snippet)"
            )
        }
        try catalog.queue.close()
    }

    func lookAtFile(_ packages: [InstalledPackage]) throws {
        try step("look at the file as a thief does") {
            let file = try Ciphertext(path: path)
            let texts =
                ["SQLite format 3", "CREATE TABLE"]
                + packages.map(\.summary).filter { $0.utf8.count >= 8 }.prefix(50)
            let readable = file.readable(texts)
            guard readable.isEmpty else { throw Failure("the file holds plaintext: \(readable)") }
            guard file.entropy > 7.99 else {
                throw Failure("the file looks like data: \(file.entropy) bits for each byte")
            }
            let entropy = String(format: "%.4f", file.entropy)
            return (
                (),
                "\(entropy) bits for each byte, none of \(texts.count) texts found\n      first bytes: "
                    + "\(file.header)"
            )
        }
    }

    func openWithShell(_ packages: [InstalledPackage], _ paths: [InstalledPath]) throws {
        try step("open it with the stock sqlcipher shell") {
            let input = """
                PRAGMA key = '\(passphrase)';
                SELECT 'rows=' || (SELECT count(*) FROM package) || '+' || (SELECT count(*) FROM path);

                """
            let answer = try output(of: "sqlcipher", ["-batch", path], input: input)
            guard answer.contains("rows=\(packages.count)+\(paths.count)\n") else {
                throw Failure("the shell answered: \(answer)")
            }
            return ((), "it counts the same rows")
        }
    }

    func refuse(_ words: String, _ key: DatabaseKey?, expected: EncryptionFailure) throws {
        try step("try \(words)") {
            do {
                _ = try Catalog(path: path, configuration: configuration(key))
            } catch let error as DatabaseError where error.encryptionFailure == expected {
                return ((), "refused: \(error.message ?? "\(error)")")
            }
            throw Failure("\(words) opened the file")
        }
    }

    /// Runs one step, prints its note and duration, and returns its result.
    @discardableResult
    func step<Result>(_ title: String, _ work: () throws -> (Result, String)) throws -> Result {
        let clock = ContinuousClock()
        let start = clock.now
        let (result, note) = try work()
        let milliseconds = (clock.now - start) / .milliseconds(1)
        print("  \(title): \(note)  [\(String(format: "%.0f", milliseconds)) ms]")
        return result
    }
}
