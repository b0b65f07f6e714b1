import Neighbour
import Proof

@main
struct CofferFirst {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            throw Failure("usage: CofferFirst <encrypted file> <plain file> <text>")
        }
        // Coffer comes first in one program and second in the other, so neither benefits from the setup of
        // the other library.
        let outcome = try prove(path: arguments[1], text: arguments[3])
        let code = neighbour_write(arguments[2], arguments[3])
        guard code == 0 else { throw Failure("the plain library answers \(code)") }
        print("plain libsqlite3 answers", String(cString: neighbour_version()), "-", outcome)
    }
}
