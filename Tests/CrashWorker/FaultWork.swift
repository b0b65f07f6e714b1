import Coffer
import CofferTestSupport
import Foundation

/// The work of the fault sweep on a database in use, in which one system call fails.
enum FaultWork {
    /// `fault PATH queue|pool copy|inPlace|passphrase|whileInUse FROM TO`: Rotates the key, then makes 50
    /// more transfers through the same queue or pool.
    ///
    /// Prints `rotating` and `rotated` before and after the rotation, then its result, then the number of the
    /// last acknowledged transfer and the number of failed ones.
    static func rotateAndGoOn(_ arguments: [String]) throws {
        let writer: any DatabaseWriter =
            arguments[1] == "pool"
            ? try DatabasePool(path: arguments[0], configuration: RotationWork.configuration(arguments[3]))
            : try DatabaseQueue(path: arguments[0], configuration: RotationWork.configuration(arguments[3]))
        var last = try writer.read { try Bank.lastNumber($0, teller: 1) }
        say("rotating")
        let words = outcome { try rotate(writer, arguments[2], to: arguments[4]) }
        say("rotated")
        var refusals: [String] = []
        for _ in 0..<50 {
            do {
                last = try writer.write { db in
                    let number = try Bank.lastNumber(db, teller: 1) + 1
                    try Bank.transfer(db, teller: 1, number: number, noteSize: 200)
                    return number
                }
            } catch {
                refusals.append("\(error)")
            }
        }
        say("\(words)")
        say("\(last) acknowledged, \(refusals.count) refused \(refusals.first ?? "")")
    }

    private static func rotate(_ writer: any DatabaseWriter, _ way: String, to key: String) throws {
        if way == "passphrase" {
            let digits = String(repeating: String(format: "%02x", UInt8(key) ?? 0), count: 32)
            try writer.barrierWriteWithoutTransaction { try $0.changePassphrase("x'\(digits)'") }
        } else {
            var options = DatabaseFile.RotationOptions()
            options.method = way == "inPlace" ? .inPlace : .copy
            if way == "whileInUse" { options.whileInUse = DatabaseFile.WhileInUse() }
            try writer.rotateKey(to: RotationWork.key(key), options: options)
        }
    }

    private static func outcome(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "changed"
        } catch let error as DatabaseFileError {
            return "failed\(error.isPublished ? " after publishing" : ""): \(error)"
        } catch {
            // The error of `changePassphrase`, which has fewer details.
            return "failed somewhere: \(error)"
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    /// `judge PATH KEY KEY LAST`: Prints the key if exactly one of the keys opens the file and all transfers
    /// up to the last one are present, and the problem otherwise.
    static func judge(_ arguments: [String]) throws {
        let opening = arguments[1...2].filter { FileForm($0)?.isIntact(arguments[0]) == true }
        guard opening.count == 1, let last = Int(arguments[3]) else {
            return print("keys that open it: \(opening)")
        }
        let queue = try DatabaseQueue(
            path: arguments[0], configuration: RotationWork.configuration(opening[0]))
        let found = try queue.read { db in
            try Bank.audit(db)
            return try Bank.lastNumber(db, teller: 1)
        }
        try Bank.inspect(queue)
        try queue.close()
        print(found == last || found == last + 1 ? opening[0] : "\(found) transfers instead of \(last)")
    }
}
