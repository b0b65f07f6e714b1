/// The raw arguments of the process, which may be any bytes.
enum ArgumentText {
    /// The arguments that are not valid UTF-8. Swift replaces their bad bytes, so a path would name another
    /// file.
    static let misread: Set<String> = {
        var texts: Set<String> = []
        let arguments = unsafe CommandLine.unsafeArgv
        for index in 0..<Int(CommandLine.argc) {
            guard let argument = unsafe arguments[index] else { continue }
            if unsafe String(validatingCString: argument) == nil {
                texts.insert(unsafe String(cString: argument))
            }
        }
        return texts
    }()
}
