internal import SQLCipherBridge

extension ConnectionHandle {
    /// Runs statements that may take long, any of which can be ended in the middle.
    ///
    /// - Parameter watch: called in the middle of a statement, when the connection must not be used; throws
    ///   to end it.
    /// - Throws: what `watch` throws, or what `body` does.
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
                // A module may take an end for an answer.
                if let reason { throw reason }
                return result
            } catch {
                throw reason ?? error
            }
        }
    }
}
