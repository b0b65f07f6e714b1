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

    /// Returns true if an operation can work without the misread arguments: all of them are files, and there
    /// are others.
    static func isRead(by operation: any Operation) -> Bool {
        guard !misread.isEmpty else { return true }
        guard let operation = operation as? any EachFileOperation else { return false }
        let files = Set(operation.files)
        return misread.isSubset(of: files) && files.count > misread.count
    }
}
