import Foundation

/// A process that runs SQL programs through Coffer and may be killed at any time.
///
/// Each line of its input is a ``Step`` in JSON, and each line of its output is the ``Reply`` to a step. The
/// reply to a step that commits is the acknowledgement. See `Tests/engine-differential`.
@main
enum EngineRunner {
    static func main() throws {
        let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
        encoder.outputFormatting = .withoutEscapingSlashes
        var session = Session()
        while let line = readLine() {
            let step = try decoder.decode(Step.self, from: Data(line.utf8))
            // A single `write`, so a reader never sees part of a line.
            FileHandle.standardOutput.write(try encoder.encode(session.run(step)) + Data("\n".utf8))
        }
    }
}
