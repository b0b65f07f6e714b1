extension Configuration {
    /// A setting of GRDB 6. Each transaction has a kind of its own: see ``Database/beginTransaction(_:)``.
    @available(*, unavailable, message: "Remove it. To choose a kind, see Database.beginTransaction(_:).")
    public var defaultTransactionKind: Database.TransactionKind {
        get { .immediate }
        set {}
    }
}
