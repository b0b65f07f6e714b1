internal import ArgumentParser
internal import Foundation

/// What both batches share.
struct BatchOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The list of files, '-' for the standard input.", valueName: "file"), completion: .file())
    var manifest: String

    @Option(help: ArgumentHelp("How many files are worked on at a time.", valueName: "number"))
    var jobs = 1

    @Flag(name: .customLong("continue"), help: "Go on with an earlier run that did not complete.")
    var continues = false

    @Option(
        help: ArgumentHelp("Where the progress of the batch is kept: MANIFEST.state by default when rotating.", valueName: "file"),
        completion: .file())
    var state: String?

    func validate() throws {
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs takes a number from 1 to 256.") }
        if manifest == "-" && continues && state == nil {
            throw ValidationError("A manifest from the standard input has no state to continue. Give --state.")
        }
    }

    func readManifest() throws -> Manifest {
        if manifest == "-" {
            let data = try FileHandle.standardInput.readToEnd() ?? Data()
            return try Manifest(BatchOptions.text(Array(data), name: "on the standard input"), folder: ".")
        }
        let descriptor = try Descriptor.reading(manifest, name: "The manifest '\(manifest)'")
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try descriptor.read(count: 64 << 20)
        } catch {
            throw Failure(error, "The manifest '\(manifest)' cannot be read")
        }
        return try Manifest(BatchOptions.text(bytes, name: "'\(manifest)'"), folder: FileNames.folder(of: manifest))
    }

    /// Bytes that are no UTF-8 would become the name of another file.
    private static func text(_ bytes: [UInt8], name: String) throws(Failure) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
        throw Failure(
            .unsafeConfiguration, "manifest",
            "Line \(line) of the manifest \(name) is not UTF-8. Give the file a name that is, or a link of such a name.")
    }

    /// - Parameter isOptional: whether there is a state only where it was asked for: what changes nothing can be done again.
    func openState(_ command: String, isOptional: Bool) throws -> BatchState? {
        let standard = manifest == "-" || (isOptional && !continues) ? nil : manifest + ".state"
        return try (state ?? standard).map { try BatchState(path: $0, command: command, continues: continues) }
    }
}
