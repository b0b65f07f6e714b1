internal import Foundation
internal import SQLCipherBridge
internal import SystemCalls

/// The name of a backup in a backup folder. It consists of the database's name, the time at which the backup
/// began, the first bytes of the backup file, and a digest of the database's path, such as
/// `vault.db.20261122T214512.345Z-9f3c2a1b-77aa01c2.backup`.
///
/// The time is in UTC, and names sort by it. The first bytes of an encrypted file are its salt, which is
/// fresh in each backup. If a file begins with the bytes that its name states, it was made under this name
/// and at this time; no key is needed to see that.
struct BackupName: Hashable {
    let database: BackupOrigin
    let time: BackupTime
    /// Eight hexadecimal digits.
    let start: String

    var text: String { "\(database.name).\(time.text)-\(start)-\(database.place)\(BackupName.ending)" }

    private static let ending = ".backup"

    init(database: BackupOrigin, time: BackupTime, start: [UInt8]) {
        self.database = database
        self.time = time
        self.start = Array(start.prefix(4)).hexadecimal
    }

    /// Returns nil for any other name, such as the name of another database's backup, or one with an invalid
    /// date or time.
    init?(_ text: String, of database: BackupOrigin) {
        let start = "\(database.name)."
        let end = "-\(database.place)\(BackupName.ending)"
        guard text.begins(withBytesOf: start), text.ends(inBytesOf: end) else { return nil }
        let rest = text.utf8.dropFirst(start.utf8.count).dropLast(end.utf8.count)
        guard rest.count == BackupTime.length + 9, let time = BackupTime(rest.prefix(BackupTime.length))
        else { return nil }
        self.database = database
        self.time = time
        self.start = String(decoding: rest.suffix(8), as: UTF8.self)
        // A backup has exactly one spelling: uppercase digits and other variants are rejected.
        guard self.start.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }),
            self.text.utf8.elementsEqual(text.utf8)
        else {
            return nil
        }
    }

    /// Returns nil for a name that no backup of any database gets.
    init?(_ text: String) {
        let tail = Array(text.utf8.suffix(BackupName.tailLength))
        guard text.utf8.count > BackupName.tailLength,
            let name = String(validating: text.utf8.dropLast(BackupName.tailLength), as: UTF8.self),
            let place = String(
                validating: tail.dropLast(BackupName.ending.utf8.count).suffix(8), as: UTF8.self),
            place.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
        else { return nil }
        self.init(text, of: BackupOrigin(name: name, place: place))
    }

    /// The number of bytes after the name of the database.
    private static let tailLength = BackupTime.length + 19 + ending.utf8.count

    /// Returns the place of a database's next backup.
    ///
    /// - Throws: `missing` if the folder does not exist, `pathTooLong`, `unsupported` if names cannot state
    ///   the time.
    static func place(of database: String, in folder: String, at time: BackupTime) throws -> NewFilePlace {
        try checkIsFolder(folder)
        guard BackupTime(time.text.utf8) == time else {
            throw DatabaseFileError(
                .unsupported("Names of backups have no year after 9999. Check the clock."), path: database)
        }
        let origin = try BackupOrigin(database)
        let base = "\(folder == "/" ? "" : folder)/"
        func path(_ start: [UInt8]) -> String {
            base + BackupName(database: origin, time: time, start: start).text
        }
        guard SystemFile.name(of: path([0, 0, 0, 0])).utf8.count <= 255 else {
            throw DatabaseFileError(.pathTooLong, path: database)
        }
        return NewFilePlace(path: "\(base)\(origin.name)\(ending)", name: { path($0) })
    }

    static func checkIsFolder(_ folder: String) throws(DatabaseFileError) {
        guard !folder.isEmpty, !folder.utf8.contains(0),
            let status = try SystemFile.status(folder, followsLinks: true)
        else {
            throw DatabaseFileError(.missing, path: folder)
        }
        guard status.isDirectory else {
            throw DatabaseFileError(.unsupported("'\(folder)' is not a folder."), path: folder)
        }
    }
}

/// The database that a backup was made from. One folder may have backups of several databases with the same
/// name.
struct BackupOrigin: Hashable {
    let name: String
    /// Eight hexadecimal digits of a digest of the database's path.
    let place: String

    fileprivate init(name: String, place: String) { (self.name, self.place) = (name, place) }

    /// - Parameter path: the path of a database in an existing directory.
    init(_ path: String) throws {
        name = SystemFile.name(of: path)
        place = Array(try Digest.sha256(Array(SystemFile.absolute(path).utf8)).prefix(4)).hexadecimal
    }
}

/// A moment in UTC, in milliseconds since 1970.
struct BackupTime: Hashable, Comparable {
    let milliseconds: Int

    /// The length of ``text``.
    static let length = 20

    init(milliseconds: Int) { self.milliseconds = milliseconds }

    static var now: BackupTime {
        BackupTime(milliseconds: Int((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    static func < (lhs: BackupTime, rhs: BackupTime) -> Bool { lhs.milliseconds < rhs.milliseconds }

    var hour: Int { BackupTime.floor(milliseconds, 3_600_000) }
    var day: Int { BackupTime.floor(milliseconds, 86_400_000) }
    /// Weeks begin on Mondays; the first day of 1970 was a Thursday.
    var week: Int { BackupTime.floor(day + 3, 7) }
    var month: Int { civil.year * 12 + civil.month }
    var year: Int { civil.year }

    private static func floor(_ number: Int, _ divisor: Int) -> Int {
        (number >= 0 ? number : number - divisor + 1) / divisor
    }

    private var civil: (year: Int, month: Int, day: Int) { DateText.civil(daysSince1970: day) }

    var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// The time in the format `20261122T214512.345Z`.
    var text: String {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let (date, time) = (civil, milliseconds - day * 86_400_000)
        return digits(date.year, 4) + digits(date.month, 2) + digits(date.day, 2) + "T"
            + digits(time / 3_600_000, 2)
            + digits(time / 60000 % 60, 2) + digits(time / 1000 % 60, 2) + "." + digits(time % 1000, 3) + "Z"
    }

    /// Returns nil for an invalid date or time.
    init?(_ text: some Collection<UInt8>) {
        let bytes = Array(text)
        guard bytes.count == BackupTime.length else { return nil }
        var numbers: [Int] = []
        for range in [0..<4, 4..<6, 6..<8, 9..<11, 11..<13, 13..<15, 16..<19] {
            guard bytes[range].allSatisfy(\.isASCIIDigit) else { return nil }
            numbers.append(bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
        }
        let day = daysSince1970(year: numbers[0], month: numbers[1], day: numbers[2])
        milliseconds = (((day * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]) * 1000 + numbers[6]
        // February 30 would come out as another day.
        guard Array(self.text.utf8) == bytes else { return nil }
    }
}
