import Coffer
import CofferTestSupport
import Foundation

/// Makes copies of a database that a recipient can open and this process cannot, and prints `copied`. Then it
/// answers each line of input, the text of a ``MemoryNeedle``, with the number of times that its bytes occur
/// in the memory of this process.
enum CopyForRecipient {
    static func run(path: String, recipient: String, copyPath: String, folder: String) throws {
        try copy(path, for: DatabaseKeyring.Recipient(recipient), to: copyPath, folder)
        FileHandle.standardOutput.write(Data("copied\n".utf8))
        while let line = readLine() {
            guard let needle = MemoryNeedle(text: line) else { throw CocoaError(.coderInvalidValue) }
            FileHandle.standardOutput.write(Data("\(try needle.count())\n".utf8))
        }
    }

    private static func copy(
        _ path: String, for recipient: DatabaseKeyring.Recipient, to copyPath: String, _ folder: String
    ) throws {
        let queue = try DatabaseQueue(path: path, configuration: .rawKeyed)
        try DatabaseKeyring(databasePath: copyPath).make([.recipient(recipient)]) { key in
            try queue.vacuum(into: copyPath, key: key)
        }
        try queue.close()
        try DatabaseFile(path: path).backup(
            into: folder, key: Configuration.rawKeyed.key, slots: [.recipient(recipient)])
    }
}
