internal import ArgumentParser

extension CommandConfiguration {
    /// Returns the configuration of a command that takes a manifest.
    ///
    /// - Parameters:
    ///   - arguments: the arguments of the usage line, followed by a space.
    ///   - needsPatterns: true if the files in folders must be named. See ``BatchOperation/usualFiles``.
    ///   - examples: the indented lines of examples.
    static func batch(
        _ name: String, abstract: String, arguments: String = "", needsPatterns: Bool = false,
        discussion: String = "", examples: String
    ) -> CommandConfiguration {
        let folders = needsPatterns ? "<folder>... --name <pattern>" : "<folder>..."
        return coffer(
            "batch \(name) \(arguments)(\(folders) | --manifest <file>) [options]", abstract: abstract,
            discussion: """
                \(discussion.isEmpty ? "" : discussion + "\n\n")\
                The manifest lists the files, and may name the key of each: 'coffer help manifest'. \
                Folders\(needsPatterns ? " need --name" : ""): 'coffer help folders'.

                EXAMPLES
                \(examples)
                """)
    }
}

extension Manifest {
    static let help = """
        The manifest has one path per line, or one JSON object per line with members named like the options: \
        {"path": "a.db", "key": "file:old.key", "new-key": "file:new.key"}. The values are sources: file:, \
        command:, env: and credential:, see 'coffer help keys'; a line without any uses the options of the \
        command line. A file with a keyring has unlock instead of key. The member previous-key can also be a \
        list of strings. The older members key-file, key-type and so on still work. Relative paths start \
        at the manifest's directory. Empty lines and lines that begin with # are ignored. Use \
        JSON for a path that begins with # or {, begins or ends with white space, or contains a line break; \
        or use --null, with which the manifest contains only paths, each ended by a NUL byte, as 'find \
        -print0' writes them.

        Instead of a manifest, folders can be given. \
        \(SearchOptions.help) Commands that change files in place need --name for folders, and batches of \
        folders keep a state only with --state.

        Commands that change files try all keys before they change the first file. Each file has its own \
        result. A failure does not stop the other files, and gives exit code 3; a file whose name is not \
        UTF-8 fails with 66. A rotation records its \
        progress in MANIFEST.state (other commands in MANIFEST.encrypt.state and so on), which is removed \
        when all files are done. After an interruption, or after fixing failures, run it again with \
        --continue: nothing is done twice. If a run of 'batch query --write' was killed, the files that it \
        was working on are refused with 73, unless --repeat-unfinished is given: look at them first. So \
        are files in which a script failed after a statement whose changes stay, as without --transaction. \
        Several machines share a manifest with --shard 1/3, 2/3 and 3/3. \
        Each shard keeps its own state, so that a shard that runs twice with --continue does nothing: \
        'coffer batch status' shows the missing files, and with --remove removes the states when all are \
        done. A file that the state records as done is skipped only if it agrees: for a rotation, if the new \
        key opens it. A file that 'batch query --write' has changed is always skipped. \
        A state of which no line fits the manifest is refused with 73.
        """
}
