internal import Coffer
internal import Synchronization

/// The header of a table with the rows of several files. It is printed again for columns that differ, because
/// the rows would otherwise be under the names of other columns.
final class SharedHeader: Sendable {
    private struct State {
        var columns: [ExactText]?
        var hasWarned = false
    }

    private let state = Mutex(State())

    /// Returns true if rows with these columns need a header of their own. The first header that differs from
    /// the one before is reported as a warning.
    func isNeeded(for columns: [String], _ reporter: Reporter) -> Bool {
        let columns = columns.map(ExactText.init)
        let (isNeeded, warns) = state.withLock { state in
            guard state.columns != columns else { return (false, false) }
            let warns = state.columns != nil && !state.hasWarned
            state.columns = columns
            if warns { state.hasWarned = true }
            return (true, warns)
        }
        if warns {
            reporter.warning(
                "The columns of the results differ: the rows have more than one header. --format jsonl names "
                    + "the columns of each row.")
        }
        return isNeeded
    }
}
