/// The raw arguments of the process, which may be any bytes.
enum ArgumentText {
    /// True if all arguments are valid UTF-8. In invalid ones, Swift replaces the bad bytes, so a path would
    /// name another file.
    static var isValid: Bool {
        let arguments = unsafe CommandLine.unsafeArgv
        for index in 0..<Int(CommandLine.argc) {
            guard let argument = unsafe arguments[index] else { continue }
            guard unsafe String(validatingCString: argument) != nil else { return false }
        }
        return true
    }
}
