import Foundation

/// A claim of the demonstration that does not hold, or something that this machine lacks.
struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Runs another program and returns its standard output.
///
/// `input` is passed through standard input, so a passphrase never appears in the process list.
func output(of program: String, _ arguments: [String], input: String = "") throws -> String {
    let process = Process()
    let (toProgram, fromProgram) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["LC_ALL": "C.UTF-8"]) { $1 }
    process.standardInput = toProgram
    process.standardOutput = fromProgram
    try process.run()
    try toProgram.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try toProgram.fileHandleForWriting.close()
    let data = try fromProgram.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
        throw Failure(
            "'\(program)' failed with status \(process.terminationStatus); is it installed? "
                + "Scripts/bootstrap installs it"
        )
    }
    return String(decoding: data, as: UTF8.self)
}
