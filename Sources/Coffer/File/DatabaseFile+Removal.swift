internal import KeyMaterial

extension DatabaseFile {
    /// Removes the file and what lies beside it: its log, its journal, and what interrupted works have left.
    ///
    /// The start of each file is overwritten with random bytes before, and with it the salt, without which a passphrase opens nothing. No
    /// promise can be made about the disk: journalling and copying file systems, snapshots and flash memory may keep what was there, and
    /// whoever has a raw key can read pages that are found. Backups are files of their own.
    /// - Returns: the paths of the files that were removed.
    /// - Throws: a ``DatabaseFileError``: `busy` when somebody has the file open, `unsafeFile` for links and other things than files. When a
    ///   file beside it cannot be removed, the file itself may be gone already.
    @discardableResult
    package func remove() throws -> [String] {
        let victims = try removable()
        for victim in victims { try DatabaseFile.overwriteStart(of: victim) }
        for victim in victims { try SystemFile.remove(victim) }
        try SystemFile.synchronize(directory: SystemFile.directory(of: path))
        return victims
    }

    /// The files that ``remove()`` would remove: the file itself is the first.
    package func removable() throws -> [String] {
        guard let status = try SystemFile.status(path) else { throw DatabaseFileError(.missing, path: path) }
        guard !status.isSymbolicLink else { throw DatabaseFileError(.unsafeFile(.symbolicLink), path: path) }
        guard status.isRegular else { throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path) }
        guard status.linkCount == 1 else { throw DatabaseFileError(.unsafeFile(.hardLinks(count: status.linkCount)), path: path) }
        guard FileUsers.ownDescriptorCount(of: status) == 0 else {
            throw DatabaseFileError(.busy([FileUsers.thisProcess]), path: path)
        }
        guard try Descriptor.open(path).probeLease() != .inUse else {
            throw DatabaseFileError(.busy(FileUsers.others(of: status)), path: path)
        }
        let companions = try ReplacementNames.companions(of: path).filter { try SystemFile.status($0)?.isRegular == true }
        return [path] + companions + (try ReplacementNames.leftovers(of: path))
    }

    private static func overwriteStart(of path: String) throws {
        let file = try Descriptor.open(path, forWriting: true)
        let size = Int(min(try file.status().size, 65_536))
        guard size > 0 else { return }
        let noise: [UInt8]
        do throws(RandomnessFailure) {
            noise = try SystemRandomness.bytes(count: size)
        } catch {
            throw DatabaseFileError(.inputOutput(call: "getentropy", errno: error.errno), path: path)
        }
        try file.replaceContent(with: noise)
    }
}
