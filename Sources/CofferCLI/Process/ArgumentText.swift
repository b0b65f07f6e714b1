/// The arguments as the system gives them: bytes of any kind.
enum ArgumentText {
    /// Whether they are text. What is not becomes text by replacing parts of it, and a name becomes that of
    /// another file.
    static var isValid: Bool {
        let arguments = unsafe CommandLine.unsafeArgv
        for index in 0..<Int(CommandLine.argc) {
            guard let argument = unsafe arguments[index] else { continue }
            guard unsafe String(validatingCString: argument) != nil else { return false }
        }
        return true
    }
}
