import Coffer
import CofferTestSupport
import Foundation

/// The crash and fault tests' work with keys, in a process that may be killed or whose system calls fail.
/// Keys are raw keys of 32 equal bytes.
enum RotationWork {
    /// `rotate PATH FROM TO [copy|inPlace [KEPT]]`: Rotates the key and prints `changed` or `unchanged`.
    static func rotate(_ arguments: [String]) throws {
        var options = DatabaseFile.RotationOptions()
        options.lockTimeout = 5
        if arguments.count > 3, let method = DatabaseFile.RotationOptions.Method(rawValue: arguments[3]) {
            options.method = method
        }
        if arguments.count > 4 { options.keepOldPath = arguments[4] }
        do {
            let result = try DatabaseFile(path: arguments[0]).rotate(
                from: key(arguments[1]), to: key(arguments[2]), options: options)
            print(result.isChanged ? "changed" : "unchanged")
        } catch let error as DatabaseFileError {
            print("failed\(error.isPublished ? " after publishing" : ""): \(error)")
            exit(1)
        }
    }

    /// `make PATH FORM ROWS delete|wal`: Makes a file with `ROWS` transfers; see ``FileForm/text``.
    static func make(_ arguments: [String]) throws {
        guard var configuration = FileForm(arguments[1])?.configuration else {
            throw CocoaError(.featureUnsupported)
        }
        configuration.journalMode = arguments[3] == "wal" ? .wal : .default
        let queue = try DatabaseQueue(path: arguments[0], configuration: configuration)
        try queue.write { db in
            try Bank.open(db)
            for number in 1...(Int(arguments[2]) ?? 10) {
                try Bank.transfer(db, teller: 1, number: number, noteSize: number % 10 == 0 ? 5000 : 50)
            }
        }
        try queue.close()
    }

    /// `check PATH KEY KEY`: Prints which of the keys opens the file, and the leftovers next to it. Changes
    /// nothing.
    static func check(_ arguments: [String]) throws {
        let file = DatabaseFile(path: arguments[0])
        let opening = arguments[1...2].filter { (try? file.inspect(key: key($0))) != nil }
        let verification = try opening.first.map { try file.verify(key: key($0)) }
        let leftovers = try file.inspect().leftovers.map { ($0 as NSString).lastPathComponent }
        print(
            opening.joined(separator: " "), verification?.isIntact == true ? "intact" : "damaged",
            leftovers.joined(separator: " "))
    }

    /// `mode PATH KEY`: Prints the journal mode of the file.
    static func mode(_ arguments: [String]) throws {
        print(try DatabaseFile(path: arguments[0]).inspect(key: key(arguments[1])).journalMode)
    }

    /// `pool PATH KEY`: Opens the file with a pool and prints the journal mode of its connection, or
    /// `failed`.
    static func pool(_ arguments: [String]) throws {
        do {
            let pool = try DatabasePool(path: arguments[0], configuration: configuration(arguments[1]))
            print(
                try pool.writeWithoutTransaction {
                    try String.fetchOne($0, sql: "PRAGMA journal_mode") ?? "none"
                })
        } catch {
            print("failed: \(error)")
        }
    }

    /// `live PATH queue|pool KEY KEY [whileInUse]`: One thread transfers money and acknowledges each number
    /// while another rotates the key back and forth.
    static func live(_ arguments: [String]) throws {
        var configuration = configuration(arguments[2])
        configuration.previousKeys = [key(arguments[3])]
        let writer: any DatabaseWriter =
            arguments[1] == "pool"
            ? try DatabasePool(path: arguments[0], configuration: configuration)
            : try DatabaseQueue(path: arguments[0], configuration: configuration)
        work(on: writer)
        var options = DatabaseFile.RotationOptions()
        if arguments.count > 4 {
            options.whileInUse = DatabaseFile.WhileInUse()
            look(at: writer)
        }
        var next = 3
        while true {
            do {
                try writer.rotateKey(to: key(arguments[next]), options: options)
            } catch let error as DatabaseFileError where error.reason == .sameKey {
                // The file had this key at the start.
            }
            next = next == 3 ? 2 : 3
        }
    }

    /// `once PATH FROM TO`: Rotates the key of a pool once while it is in use.
    static func once(_ arguments: [String]) throws {
        let pool = try DatabasePool(path: arguments[0], configuration: configuration(arguments[1]))
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = DatabaseFile.WhileInUse()
        var number = try pool.read { try Bank.lastNumber($0, teller: 1) }
        try pool.rotateKey(to: key(arguments[2]), options: options) { step in
            // During the pause, a transfer would deadlock.
            guard
                step.phase == .verifying
                    || step.phase == .copying && step.completedPageCount > 0 && step.round < 2
            else { return }
            number += 1
            let current = number
            try pool.write { try Bank.transfer($0, teller: 1, number: current, noteSize: 5000) }
            FileHandle.standardOutput.write(Data("\(current)\n".utf8))
        }
        try pool.close()
    }

    /// Transfers money on a thread and acknowledges each number.
    private static func work(on writer: any DatabaseWriter) {
        Thread.detachNewThread {
            do {
                var number = try writer.read { try Bank.lastNumber($0, teller: 1) }
                while true {
                    number += 1
                    let current = number
                    try writer.write { try Bank.transfer($0, teller: 1, number: current, noteSize: 500) }
                    FileHandle.standardOutput.write(Data("\(current)\n".utf8))
                }
            } catch {
                FileHandle.standardError.write(Data("writer: \(error)\n".utf8))
                exit(2)
            }
        }
    }

    /// Reads on a thread and checks that every state is consistent.
    private static func look(at reader: any DatabaseReader) {
        Thread.detachNewThread {
            do {
                while true {
                    try reader.read { try Bank.glance($0) }
                    usleep(500)
                }
            } catch {
                FileHandle.standardError.write(Data("reader: \(error)\n".utf8))
                exit(2)
            }
        }
    }

    /// `measure PATH FROM TO`: Rotates the key and prints the duration in seconds, the growth of the peak
    /// memory in KiB, and the end time of each phase.
    static func measure(_ arguments: [String]) throws {
        _ = try DatabaseFile(path: arguments[0]).inspect(key: key(arguments[1]))
        let before = try peakMemory()
        var phases = PhaseEnds()
        let result = try DatabaseFile(path: arguments[0]).rotate(
            from: key(arguments[1]), to: key(arguments[2])
        ) { phases.note($0) }
        print(String(format: "%.2f", result.duration), try peakMemory() - before, phases.text)
    }

    /// The end times of the phases of a rotation, in seconds since its start.
    struct PhaseEnds {
        private let start = ContinuousClock.now
        private var ends: [(name: String, seconds: Double)] = []

        mutating func note(_ step: DatabaseFile.Progress) {
            let name = step.round > 0 ? "\(step.phase) \(step.round)" : "\(step.phase)"
            if ends.last?.name == name { ends.removeLast() }
            ends.append((name, (ContinuousClock.now - start) / .seconds(1)))
        }

        var text: String {
            ends.map { String(format: "\($0.name) %.2f", $0.seconds) }.joined(separator: ", ")
        }
    }

    /// Returns the peak memory, in KiB.
    static func peakMemory() throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        return lines.first { $0.hasPrefix("VmHWM:") }.flatMap {
            Int($0.split(separator: " ").dropLast().last ?? "")
        } ?? 0
    }

    static func key(_ byte: String) -> DatabaseKey {
        .rawKey([UInt8](repeating: UInt8(byte) ?? 0, count: 32))
    }

    static func configuration(_ byte: String) -> Configuration {
        var configuration = Configuration()
        configuration.key = key(byte)
        return configuration
    }
}
