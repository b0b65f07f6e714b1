extension Configuration {
    /// Sets ``key`` to a generation of a key, and ``previousKeys`` to the generations before it.
    ///
    /// A rotation that was interrupted leaves a file with the key of the generation before. If another
    /// rotation is begun before the file is rotated again, the file is two generations behind. Therefore,
    /// more than one earlier generation is tried.
    ///
    /// - Parameters:
    ///   - generation: the newest generation that the file may have.
    ///   - previousCount: the number of earlier generations to try. Each costs about half a millisecond, and
    ///     only if all newer ones have failed.
    public mutating func setKey(_ keys: KeyGenerations, generation: Int, previousCount: Int = 3) {
        key = keys[generation]
        previousKeys = keys.previous(to: generation, count: previousCount)
    }
}
