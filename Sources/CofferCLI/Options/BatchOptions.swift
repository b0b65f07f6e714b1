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
            return try Manifest(String(decoding: data, as: UTF8.self), folder: ".")
        }
        let descriptor = try Descriptor.reading(manifest, name: "The manifest '\(manifest)'")
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try descriptor.read(count: 64 << 20)
        } catch {
            throw Failure(error, "The manifest '\(manifest)' cannot be read")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.unsafeConfiguration, "manifest", "The manifest '\(manifest)' is not UTF-8.")
        }
        return try Manifest(text, folder: FileNames.folder(of: manifest))
    }

    /// - Parameter isOptional: whether there is a state only where it was asked for: what changes nothing can be done again.
    func openState(_ command: String, isOptional: Bool) throws -> BatchState? {
        let standard = manifest == "-" || (isOptional && !continues) ? nil : manifest + ".state"
        return try (state ?? standard).map { try BatchState(path: $0, command: command, continues: continues) }
    }
}
