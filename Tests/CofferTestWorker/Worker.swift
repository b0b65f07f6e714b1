import Coffer
import CofferTestSupport
import Foundation

/// The work of the integration tests in another process: under `strace`, on a small disk, or several times at
/// once.
///
/// The first argument is the name of the work, and the rest are its arguments. The key is the one of
/// `Configuration.rawKeyed`, or a passphrase on standard input.
@main
enum Worker {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "spill" where arguments.count == 4:
            try Spill.run(path: arguments[1], marker: arguments[2], isEncrypted: arguments[3] == "encrypted")
        case "index" where arguments.count == 4:
            try SpillIndex.run(
                path: arguments[1], marker: arguments[2], isEncrypted: arguments[3] == "encrypted")
        case "tokens" where arguments.count == 1: try TokenCost.run()
        case "insert-without-journal" where arguments.count == 2: try Fill.withoutJournal(path: arguments[1])
        case "fill" where arguments.count == 3: try Fill.run(path: arguments[1], access: arguments[2])
        case "hold" where arguments.count == 3: try Hold.run(path: arguments[1], state: arguments[2])
        case "create" where arguments.count == 3: try Create.run(path: arguments[1], access: arguments[2])
        case "obey" where arguments.count == 4:
            try Obey.run(path: arguments[1], access: arguments[2], patience: Double(arguments[3]) ?? 0)
        case "cost" where arguments.count == 1: try Cost.run()
        case "migrate" where arguments.count == 3: try Migrate.run(path: arguments[1], access: arguments[2])
        case "keyrings" where arguments.count == 2: try KeyringCost.run(megabytes: Int(arguments[1]) ?? 0)
        case "faults" where arguments.count == 1: try Faults.run()
        case "lose" where arguments.count == 2: try Lose.run(path: arguments[1])
        case "savepoints" where arguments.count == 3:
            try Savepoints.run(path: arguments[1], seed: UInt64(arguments[2]) ?? 0)
        case "copy" where arguments.count == 5:
            try CopyForRecipient.run(
                path: arguments[1], recipient: arguments[2], copyPath: arguments[3], folder: arguments[4])
        default: throw CocoaError(.featureUnsupported)
        }
    }
}
