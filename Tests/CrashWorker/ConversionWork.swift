import Coffer
import CofferTestSupport
import Foundation

/// The crash tests' work on closed files, in a process that may be killed.
enum ConversionWork {
    /// `work PATH WORK [PATIENCE]`: Does the work and prints `changed` or `unchanged`; see ``FileWork``. If a
    /// patience is given, retries while the file is busy.
    static func work(_ arguments: [String]) throws {
        guard let work = FileWork(rawValue: arguments[1]) else { throw CocoaError(.featureUnsupported) }
        let patience = arguments.count > 2 ? Double(arguments[2]) ?? 0 : 0
        while true {
            do {
                print(try work.run(arguments[0], patience: patience) ? "changed" : "unchanged")
                return
            } catch let error as DatabaseFileError {
                if case .busy = error.reason, patience > 0 { continue }
                print("failed\(error.isPublished ? " after publishing" : ""): \(error)")
                exit(1)
            }
        }
    }

    /// `weigh PATH WORK`: Does the work and prints the growth of the process's peak memory in KiB.
    static func weigh(_ arguments: [String]) throws {
        guard let work = FileWork(rawValue: arguments[1]) else { throw CocoaError(.featureUnsupported) }
        let before = try RotationWork.peakMemory()
        guard try work.run(arguments[0]) else { throw CocoaError(.featureUnsupported) }
        print(try RotationWork.peakMemory() - before)
    }

    /// `turns PATH FORM FORM`: Opens the file in its current form, transfers money, acknowledges the number,
    /// closes the file, and starts over.
    static func turns(_ arguments: [String]) throws {
        let forms = arguments[1...2].compactMap { FileForm($0) }
        var turn = 0
        while true {
            for form in forms {
                // The file may be locked, have changed its form, or have been replaced since it was opened.
                guard let number = try? transfer(arguments[0], form) else { continue }
                FileHandle.standardOutput.write(Data("\(number)\n".utf8))
                turn += 1
            }
            // A pause, in which another process may find the file unused.
            usleep(UInt32(turn % 4) * 5000)
        }
    }

    private static func transfer(_ path: String, _ form: FileForm) throws -> Int {
        let queue = try DatabaseQueue(path: path, configuration: form.configuration)
        defer { try? queue.close() }
        return try queue.write { db in
            let number = try Bank.lastNumber(db, teller: 1) + 1
            try Bank.transfer(db, teller: 1, number: number, noteSize: 500)
            return number
        }
    }

    /// `copy PATH KEY backup|vacuum|salvage DESTINATION`: Copies to another file with the same key and prints
    /// `done`.
    static func copy(_ arguments: [String]) throws {
        let file = DatabaseFile(path: arguments[0])
        let key = RotationWork.key(arguments[1])
        do {
            switch arguments[2] {
            case "backup": try file.backup(to: arguments[3], key: key)
            case "salvage": _ = try file.salvage(key: key, to: arguments[3])
            default: try file.vacuum(into: arguments[3], key: key)
            }
            print("done")
        } catch let error as DatabaseFileError {
            print("failed: \(error)")
            exit(1)
        }
    }

    /// `fill PATH FORM MEGABYTES`: Makes a file of about this size, with rows of ten kilobytes.
    static func fill(_ arguments: [String]) throws {
        guard var configuration = FileForm(arguments[1])?.configuration else {
            throw CocoaError(.featureUnsupported)
        }
        configuration.journalMode = .default
        let queue = try DatabaseQueue(path: arguments[0], configuration: configuration)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = OFF; CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB)")
        }
        // The rows are incompressible without much work for random numbers: each is the same block, rotated
        // by a different number of bytes.
        let block = Data((0..<10_100).map { _ in UInt8.random(in: 0...255) })
        for _ in 0..<(Int(arguments[2]) ?? 1) {
            try queue.write { db in
                for row in 0..<100 {
                    try db.execute(
                        sql: "INSERT INTO t (a) VALUES (?)", arguments: [block.dropFirst(row).prefix(10_000)])
                }
            }
        }
        try queue.close()
    }
}
