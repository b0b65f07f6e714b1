/// A file that belongs to a new file and gets its name just before it, such as the keyring of a copy.
package protocol FileCompanion: Sendable {
    /// Removes the leftovers of a killed run before the new file is begun.
    ///
    /// - Throws: an error if the companion cannot be made.
    func prepare() throws

    /// Makes the companion of a complete file that is about to get this path.
    func make(beside path: String) throws

    /// Removes the companion after the file has failed to get its name.
    func takeBack()
}
