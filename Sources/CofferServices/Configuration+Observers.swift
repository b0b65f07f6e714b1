#if Services
public import Coffer

extension Configuration {
    /// Adds a function to `accessObserver`, which is called after the functions that were set before.
    ///
    ///     configuration.addAccessObserver(AccessLog(logger).record)
    ///     configuration.addAccessObserver(AccessTimers(name: "notes").record)
    public mutating func addAccessObserver(_ observer: @escaping @Sendable (DatabaseAccessReport) -> Void) {
        guard let former = accessObserver else {
            accessObserver = observer
            return
        }
        accessObserver = { access in
            former(access)
            observer(access)
        }
    }
}
#endif
