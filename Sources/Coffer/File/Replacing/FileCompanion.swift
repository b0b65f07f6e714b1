/// A file that belongs to a new one and gets its name just before it, such as the keyring of a copy.
package protocol FileCompanion: Sendable {
    /// Removes what a killed run has left, before the new file is begun.
    ///
    /// - Throws: an error if the companion cannot be made.
    func prepare() throws

    /// Makes the companion of a file that is complete and about to get this path.
    func make(beside path: String) throws

    /// Removes the companion after the file has failed to get its name.
    func takeBack()
}
