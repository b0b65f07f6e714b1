import Coffer
import Hummingbird

/// Answers errors of databases with an HTTP status. The client gets no message: those are for the log.
struct StatusMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            guard let status = Self.status(of: error) else { throw error }
            throw HTTPError(status)
        }
    }

    private static func status(of error: any Error) -> HTTPResponse.Status? {
        switch error {
        case is DatabaseWaitError, DatabaseError.SQLITE_BUSY, DatabaseError.SQLITE_MISUSE,
            DatabaseError.SQLITE_FULL:
            .serviceUnavailable
        case let error as DatabaseFileError where error.reason == .missing: .notFound
        case let error as DatabaseFileError where error.reason == .exists: .conflict
        case is RecordError: .notFound
        case is DatabaseError, is DatabaseFileError: .internalServerError
        default: nil
        }
    }
}
