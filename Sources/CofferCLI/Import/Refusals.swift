/// Receives rejected rows and writes them to a file. Without a file, the first rejected row ends the import.
final class Refusals {
    private let path: String?
    private let name: String
    private var file: Box?

    /// Wraps a noncopyable value.
    private final class Box {
        let file: NewFile

        init(_ path: String) throws(Failure) {
            file = try NewFile(path)
        }
    }

    init(_ path: String?, name: String) {
        self.path = path
        self.name = name
    }

    func add(_ record: ImportRecord, _ reason: String) throws {
        guard let path else {
            throw Failure(
                .badData, "refused",
                "\(name), line \(record.line): the row is refused: \(reason). --rejects sets such rows aside."
            )
        }
        let box = try file ?? Box(path)
        file = box
        let text = String(decoding: record.bytes, as: UTF8.self)
        let line = JSONObject(["line": record.line, "reason": reason, "row": text])
            .text
        try box.file.write(bytes: Array((line + "\n").utf8))
    }

    func publish() throws { try file?.file.publish() }

    func remove(ifNothingWasKept isRolledBack: Bool) {
        if isRolledBack { file?.file.remove() }
    }
}
