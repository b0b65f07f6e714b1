import Coffer
import Hummingbird
import Logging
import Notes

/// Serves notes on the loopback interface until SIGTERM.
@main
struct NotesServer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let port = Int(arguments[3]) else {
            print("usage: NotesServer FOLDER KEYFILE PORT")
            return
        }
        let logger = Logger(label: "notes")
        let tenants = try await Tenants.open(arguments[1], master: .keyFile(arguments[2]), logger: logger)
        try await tenants.application(address: .hostname("127.0.0.1", port: port), logger: logger)
            .runService()
    }
}
