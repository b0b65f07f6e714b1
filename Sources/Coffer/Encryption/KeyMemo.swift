/// What was asked and derived during one opening: several formats share a derivation, and one answer of a provider serves them all.
struct KeyMemo {
    private struct Parameters: Hashable {
        let keyIndex: Int
        let fileSalt: [UInt8]
        let iterations: Int
        let algorithm: CipherSettings.HashAlgorithm
    }

    private var materials: [Parameters: KeyRing.Material] = [:]
    private var answers: [Int: DatabaseKey] = [:]

    mutating func material(
        keyIndex: Int, fileSalt: [UInt8], settings: CipherSettings, path: String? = nil, ring: KeyRing
    ) throws(KeyError) -> KeyRing.Material {
        let parameters = Parameters(
            keyIndex: keyIndex, fileSalt: fileSalt, iterations: settings.kdfIterations, algorithm: settings.kdfAlgorithm)
        if let known = materials[parameters] { return known }
        let key = if let answer = answers[keyIndex] { answer } else { try ring.resolve(keyIndex: keyIndex) }
        answers[keyIndex] = key
        let material = try ring.material(of: key, fileSalt: fileSalt, settings: settings, path: path)
        materials[parameters] = material
        return material
    }
}
