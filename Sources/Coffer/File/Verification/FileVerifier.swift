struct FileVerifier {
    let path: String
    let options: DatabaseFile.VerificationOptions
    let progress: ProgressReport

    func verify(key: DatabaseKey?) throws -> DatabaseFile.Verification {
        throw DatabaseFileError(.unsupported("Not there yet."), path: path)
    }
}

extension FileInspector {
    func contents(key: DatabaseKey?, cipher: CipherSettings?) throws -> DatabaseFile.Contents {
        throw DatabaseFileError(.unsupported("Not there yet."), path: path)
    }
}
