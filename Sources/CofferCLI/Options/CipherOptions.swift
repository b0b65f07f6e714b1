internal import ArgumentParser
internal import Coffer

/// The settings of files that differ from SQLCipher 4. They are not stored in a file: whoever opens it must
/// know them.
struct CipherOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The SQLCipher format of the file, 1 to 4.", valueName: "number"))
    var cipherFormat: Int?

    @Option(help: ArgumentHelp("The page size, where the file has a special one.", valueName: "bytes"))
    var pageSize: Int?

    @Option(
        help: ArgumentHelp("The rounds of PBKDF2, where the file has a special number.", valueName: "rounds"))
    var kdfIterations: Int?

    func validate() throws {
        let problem = CipherOptions.problem(
            format: cipherFormat, pageSize: pageSize, kdfIterations: kdfIterations)
        if let problem { throw ValidationError(problem) }
    }

    /// What is wrong with settings, whether options or a manifest have them: a sentence.
    static func problem(format: Int?, pageSize: Int?, kdfIterations: Int?) -> String? {
        guard format.map((1...4).contains) ?? true else { return "The formats of SQLCipher are 1 to 4." }
        guard pageSize.map({ (1024...65536).contains($0) && $0.nonzeroBitCount == 1 }) ?? true else {
            return "A page size is a power of two from 1024 to 65536."
        }
        guard kdfIterations.map({ (1...Int(Int32.max)).contains($0) }) ?? true else {
            return "The number of rounds must be from 1 to \(Int32.max)."
        }
        return nil
    }

    /// The settings that were asked for; nil when none were.
    var given: CipherSettings? {
        guard cipherFormat != nil || pageSize != nil || kdfIterations != nil else { return nil }
        var settings = CipherSettings.sqlcipher(format: cipherFormat ?? 4)
        if let pageSize { settings.pageSize = pageSize }
        if let kdfIterations { settings.kdfIterations = kdfIterations }
        return settings
    }

    var settings: CipherSettings { given ?? CipherSettings() }
}
