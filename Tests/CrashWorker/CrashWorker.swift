import Coffer
import CofferTestSupport
import Foundation

/// A process that transfers money as fast as it can, acknowledges each transfer on standard output, and may
/// be killed at any time.
///
/// Arguments: the path, `queue` or `pool`, the number of the teller, and the time to work in seconds, or 0
/// for no limit. Other work has a name as its first argument: see ``RotationWork``, ``VisitWork``,
/// ``ConversionWork`` and ``FaultWork``.
@main
enum CrashWorker {
    static func main() throws {
        let arguments = CommandLine.arguments
        let rest = Array(arguments.dropFirst(2))
        switch arguments.dropFirst().first {
        case "rotate" where rest.count >= 3: return try RotationWork.rotate(rest)
        case "make" where rest.count == 4: return try RotationWork.make(rest)
        case "check" where rest.count == 3: return try RotationWork.check(rest)
        case "mode" where rest.count == 2: return try RotationWork.mode(rest)
        case "pool" where rest.count == 2: return try RotationWork.pool(rest)
        case "live" where (4...5).contains(rest.count): return try RotationWork.live(rest)
        case "once" where rest.count == 3: return try RotationWork.once(rest)
        case "stress" where (5...6).contains(rest.count): return try StressWork.stress(rest)
        case "visit" where rest.count == 5: return try VisitWork.visit(rest)
        case "visits" where rest.count == 5: return try VisitWork.visits(rest)
        case "measure" where rest.count == 3: return try RotationWork.measure(rest)
        case "work" where rest.count >= 2: return try ConversionWork.work(rest)
        case "weigh" where rest.count == 2: return try ConversionWork.weigh(rest)
        case "turns" where rest.count == 3: return try ConversionWork.turns(rest)
        case "copy" where rest.count == 4: return try ConversionWork.copy(rest)
        case "fill" where rest.count == 3: return try ConversionWork.fill(rest)
        case "fault" where rest.count == 5: return try FaultWork.rotateAndGoOn(rest)
        case "judge" where rest.count == 4: return try FaultWork.judge(rest)
        case "outage" where rest.count >= 3: return try OutageWork.main(rest)
        default: break
        }
        guard arguments.count == 5, let access = Access(rawValue: arguments[2]),
            let teller = Int(arguments[3]),
            let seconds = Double(arguments[4])
        else { throw CocoaError(.featureUnsupported) }

        var configuration = Configuration.rawKeyed
        configuration.busyMode = .timeout(Patience.seconds)
        // Transactions that exceed the cache are written to the file before they are committed.
        configuration.pageCacheSize = 64 * 1024
        let writer: any DatabaseWriter =
            switch access {
            case .queue: try DatabaseQueue(path: arguments[1], configuration: configuration)
            case .pool: try DatabasePool(path: arguments[1], configuration: configuration)
            }

        let end = seconds > 0 ? Date(timeIntervalSinceNow: seconds) : .distantFuture
        var number = try writer.read { try Bank.lastNumber($0, teller: teller) }
        while Date() < end {
            number += 1
            // From time to time, a big transfer and a checkpoint.
            let noteSize = number % 50 == 0 ? 300_000 : number % 7 == 0 ? 5000 : 50
            try writer.write { try Bank.transfer($0, teller: teller, number: number, noteSize: noteSize) }
            acknowledge(number)
            if number % 10 == 0 { try writer.read { try Bank.glance($0) } }
            if number % 100 == 0 {
                // Other connections may be reading. Then a later checkpoint has to do.
                try? writer.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            }
        }
    }

    /// Writes a line with a single `write`, so the output survives if the process is killed.
    private static func acknowledge(_ number: Int) {
        FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    }
}
