import GRDB

/// The program. It sets the default key, unless it is to show the behavior without one.
@main
struct Mirrored {
    struct Failure: Error { var message: String }

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else { throw Failure(message: "usage: Mirrored DATABASE TEXT [nokey]") }
        guard arguments.count == 3 else {
            do {
                _ = try open(arguments[1])
            } catch let error as DatabaseError where "\(error)".contains("setDefaultKey") {
                return print("refused without a key")
            }
            throw Failure(message: "a file was opened without a key")
        }
        try Configuration.setDefaultKey(.passphrase("correct horse battery staple"))
        let pool = try open(arguments[1])
        var note = Note(text: arguments[2])
        try pool.write { try note.insert($0) }
        guard try pool.read({ try Note.fetchAll($0).map(\.text) }) == [arguments[2]], note.id == 1 else {
            throw Failure(message: "the note is not what was written")
        }
        try pool.close()
        print("a package for GRDB wrote and read one encrypted row, on SQLite \(engineVersion)")
    }
}
