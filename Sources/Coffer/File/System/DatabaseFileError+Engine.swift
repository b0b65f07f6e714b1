internal import KeyMaterial
internal import SQLCipherBridge

extension DatabaseFileError {
    init(_ error: EngineError, path: String) {
        let reason: Reason =
            switch error.primaryCode {
            case EngineCode.busy, EngineCode.locked: .busy([])
            case EngineCode.full: .diskFull
            case EngineCode.corrupt: .damaged(pages: [])
            case EngineCode.constraint: .inconsistent(error.words)
            case _ where error.isOfMissingDefinition: .missingDefinition(error.words)
            default: .engine(ResultCode(rawValue: error.code), error.words)
            }
        self.init(reason, path: path)
    }

    init(failure: EncryptionFailure, path: String) {
        if case .damaged(let pages) = failure {
            self.init(.damaged(pages: pages), path: path)
        } else {
            self.init(.key(failure), path: path)
        }
    }

    /// Runs `body`, and converts its errors to public errors.
    static func translated<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw publicError(error, path: path)
        }
    }

    /// Converts an error of the lower modules to a public error; errors of key providers and of progress
    /// functions are passed on.
    static func publicError(_ error: any Error, path: String) -> any Error {
        switch error {
        case KeyError.encryption(let failure, _): DatabaseFileError(failure: failure, path: path)
        case KeyError.engine(let error): DatabaseFileError(error, path: path)
        case KeyError.provider(let error): error
        case let error as EngineError: DatabaseFileError(error, path: path)
        case let error as CryptographyFailure:
            DatabaseFileError(.engine(.SQLITE_ERROR, error.message), path: path)
        case is RandomnessFailure:
            DatabaseFileError(.engine(.SQLITE_ERROR, "the system's random generator failed"), path: path)
        case let error as DatabaseError:
            if let failure = error.encryptionFailure {
                DatabaseFileError(failure: failure, path: path)
            } else {
                DatabaseFileError(
                    EngineError(code: error.extendedResultCode.rawValue, message: error.message), path: path)
            }
        default: error
        }
    }

    /// Returns the public error for a failure after the file got its new content.
    static func published(_ error: any Error, path: String) -> DatabaseFileError {
        let error = publicError(error, path: path)
        var failure =
            error as? DatabaseFileError ?? DatabaseFileError(.applicationFailed("\(error)"), path: path)
        failure.isPublished = true
        return failure
    }
}

extension DatabaseFileError: SystemCallFailure {
    package var systemError: Int32? {
        if case .inputOutput(_, let errno) = reason { errno } else { nil }
    }
}
