#if DEBUG
import Foundation

@testable import Coffer

// KeyringParser SEED COUNT STEP: passes COUNT forged keyrings to the parser and to the code that opens them,
// and also a keyring with five slots after flipping every STEP-th bit. Any text that differs from the
// original must be rejected; a single intact copy is enough. The sanitizer ends the process on an invalid
// memory access.
//
// KeyringParser fuzz CORPUS OPTION...: the same checks with libFuzzer, if the program is built with it.

let arguments = CommandLine.arguments
if arguments.count >= 3, arguments[1] == "fuzz" { exit(try Fuzzing.run(corpus: arguments[2])) }
guard arguments.count == 4, let seed = UInt64(arguments[1]), let count = Int(arguments[2]),
    let step = Int(arguments[3]), step > 0
else {
    fatalError("KeyringParser SEED COUNT STEP")
}

let examination = try Examination()
var random = Random(seed)
var started = ContinuousClock.now
for number in 1...count {
    examination.examine(try examination.forgery.make(&random))
    if number.isMultiple(of: 10_000) {
        let time = ContinuousClock.now - started
        Examination.say("\(number) forged keyrings, the last 10,000 in \(time.components.seconds) s")
        started = .now
    }
}
Examination.say(
    "\(count) forged keyrings, \(examination.tally.read) read, \(examination.tally.opened) of them opened, "
        + "because a copy was whole")
let bits = examination.examineBits(step: step)
Examination.say("\(bits) bits of a keyring with five slots, in one copy and in both: all found")
examination.examineTexts(count: count / 10, &random)
Examination.say("\(count / 10) texts of recipients, identities and recovery keys")
examination.end()
#else
fatalError("Build this for debugging: only then it sees the parser.")
#endif
