internal import SQLCipherBridge

extension ConnectionHandle {
    /// Runs statements that may take long, and allows each to be interrupted.
    ///
    /// - Parameter watch: called during a statement, when the connection must not be used; throws to
    ///   interrupt it.
    /// - Throws: the error of `watch` or of `body`.
    func watched<Result>(by watch: () throws -> Void, _ body: () throws -> Result) throws -> Result {
        try withoutActuallyEscaping(watch) { watch in
            var reason: (any Error)?
            let handler = ProgressHandler(self, every: 20_000) {
                do {
                    try watch()
                    return true
                } catch {
                    reason = error
                    return false
                }
            }
            defer { handler.remove(from: self) }
            do {
                let result = try body()
                // A module may ignore an interruption, and return normally.
                if let reason { throw reason }
                return result
            } catch {
                throw reason ?? error
            }
        }
    }
}
