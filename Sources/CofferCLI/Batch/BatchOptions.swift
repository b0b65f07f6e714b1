internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import SystemCalls

/// The list of files that a batch works on.
struct ManifestOptions: ParsableArguments {
    @Option(help: .value("file", "The list of files, '-' for the standard input."), completion: .file())
    var manifest: String?

    @Flag(
        name: [.customLong("null"), .customShort("0")],
        help: "The manifest contains only paths, each ended by a NUL byte, as 'find -print0' writes them.")
    var null = false

    /// True without a manifest, for the standard input and for pipes, such as `<(ls)`. They have no folder:
    /// relative paths start at the current one, and no state is kept next to them.
    var isStream: Bool {
        guard let manifest else { return true }
        if ["/dev/", "/proc/"].contains(where: manifest.hasPrefix) || manifest == "-" { return true }
        let status = try? FileStatus(manifest, followsLinks: true)
        return status.map { !$0.isRegular && !$0.isDirectory } ?? false
    }

    func read() throws -> Manifest {
        guard let manifest else { throw Failure.usage("Give folders, or a list of files with --manifest.") }
        let form = null ? Manifest.Form.zeroSeparatedPaths : .lines
        guard manifest != "-" else {
            return try Manifest(STDIN_FILENO, form: form, folder: ".", name: "on the standard input")
        }
        let descriptor = try Descriptor.reading(manifest, name: "The manifest '\(manifest)'")
        return try Manifest(
            descriptor.number, form: form, folder: isStream ? "." : FileNames.folder(of: manifest),
            name: "'\(manifest)'", danger: ManifestOptions.danger(of: descriptor))
    }

    /// Returns the way in which other users can change a manifest, or nil. It is looked up in the open file,
    /// because the path may lead elsewhere the next time.
    private static func danger(of file: borrowing Descriptor) -> String? {
        guard let status = try? file.status() else { return "its status cannot be read" }
        // Only programs that inherit a pipe without a name can write to it.
        guard status.isRegular || status.mode & S_IFMT == S_IFIFO && !file.isUnnamedPipe else { return nil }
        guard status.isOwn || status.userID == 0 else {
            return "it belongs to another user, who can change it"
        }
        guard status.mode & 0o022 == 0 else {
            return "others can write to it (mode \(String(status.permissions, radix: 8))). Run 'chmod go-w'"
        }
        return nil
    }

    /// Returns the default path of the state of a batch, or of one shard. The result is nil for a list from
    /// standard input or a pipe.
    ///
    /// - Parameter word: the word for the work, if it is part of the name: a batch that encrypts must not
    ///   resume from the state of a rotation.
    func state(of shard: Shard?, _ word: String?) -> String? {
        guard !isStream, let manifest else { return nil }
        return ([manifest, shard?.suffix, word, "state"] as [String?]).compactMap { $0 }.joined(
            separator: ".")
    }
}

/// The options that all batches share.
struct BatchOptions: ParsableArguments {
    @Argument(help: "Folders whose databases are processed, instead of a manifest.", completion: .directory)
    var folders: [String] = []

    @OptionGroup
    var search: SearchOptions

    @OptionGroup
    var list: ManifestOptions

    @Option(help: .value("number", "The number of files to process at a time."))
    var jobs = 1

    @Option(
        help: .value(
            "number/count",
            "Process only one shard of the manifest, such as 2/8: the second of eight. A file is in the "
                + "same shard on every machine."))
    var shard: Shard?

    @Flag(help: ArgumentHelp("Start no other file after the first failure.", visibility: .hidden))
    var failFast = false

    @Flag(name: .customLong("continue"), help: "Continue an earlier run that did not complete.")
    var continues = false

    @Option(
        help: .value(
            "file",
            "The file for the batch's progress: by default MANIFEST.state for rotate, MANIFEST.encrypt.state "
                + "for encrypt, or MANIFEST.shard-2-of-8.state for a shard."), completion: .file())
    var state: String?

    func validate() throws {
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs takes a number from 1 to 256.") }
        if let state { try FileNames.checkIsNoDash(state, "the state") }
        if continues, state == nil, list.isStream {
            throw ValidationError(
                "A manifest from the standard input, or a folder, has no state to continue. Give --state.")
        }
    }

    /// Returns the files of the manifest, or of its shard.
    func items(of manifest: Manifest) throws -> [Manifest.Item] {
        guard let shard else { return manifest.items }
        return try manifest.items.filter { try shard.has($0.path) }
    }

    /// - Parameter isOptional: true to keep a state only on request: work that changes nothing can be
    ///   repeated.
    func openState(_ command: String, _ word: String?, of manifest: Manifest, isOptional: Bool) throws
        -> BatchState?
    {
        let standard = isOptional && !continues ? nil : list.state(of: shard, word)
        return try (state ?? standard).map {
            try BatchState(path: $0, command: command, continues: continues, of: manifest)
        }
    }

    /// Throws if there is a state of the same work in other shards, or of the whole manifest: it records
    /// files as done that this run would change again.
    func checkOtherShards(_ word: String?) throws(Failure) {
        guard state == nil, !list.isStream, let manifest = list.manifest else { return }
        let (start, end) = ("\(FileNames.name(of: manifest)).", "\(word.map { "\($0)." } ?? "")state")
        let folder = FileNames.folder(of: manifest)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.sorted() where name.hasPrefix(start) && name.hasSuffix(end) {
            // Nothing, or `shard-2-of-8.`.
            let words = name.dropFirst(start.count).dropLast(end.count).dropLast().split(separator: "-")
            let isOfShard = words.count == 4 && words[0] == "shard" && words[2] == "of"
            let count = isOfShard ? Int(words[3]) : nil
            guard isOfShard || name.utf8.count == start.utf8.count + end.utf8.count, count != shard?.count
            else { continue }
            throw Failure(
                .outputExists, "state_exists",
                "An earlier run divided this manifest differently; its state '\(folder)/\(name)' records "
                    + "files as done. Complete it in the same way, or remove the state: then all files are "
                    + "changed again.")
        }
    }
}
