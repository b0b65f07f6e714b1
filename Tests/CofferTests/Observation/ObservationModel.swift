@testable import Coffer

/// A writer and an observer that reads on another connection, as far as their decisions go, step by step:
/// every order of their steps can be played.
///
/// The database has two numbers, `a` and `b`. The steps are those between which the other side can do
/// something: a lock, an atomic number, a moment at which SQLite makes a commit visible.
struct ObservationModel {
    /// One transaction: the numbers that it adds to, and whether it is committed.
    struct Transaction {
        var tables: [String]
        var isCommitted = true
    }

    private enum WriterStep {
        case beginWriting
        case ask(String)
        case change(String)
        case commit([String])
        case moveClock
        case tell(rolledBack: Bool)
    }

    private enum ObserverStep {
        case beginFetch
        case readClock
        case snapshot(WriteClock.Time)
        case setRegion(WriteClock.Time, value: [String: Int])
        case deliver([String: Int])
    }

    /// What the observed function reads of a state of the database.
    var reads: ([String: Int]) -> Set<String>

    private var committed = ["a": 0, "b": 0]
    private var time = (count: UInt64(0), isWriting: false)
    private var watch = RegionWatchState()
    private var audience: [RegionWatchState.ID] = []
    private var observer = ValueObserverState()
    private var watcher: RegionWatchState.ID
    private var writerSteps: ArraySlice<WriterStep>
    private var observerSteps: [ObserverStep] = []
    private(set) var delivered: [[String: Int]] = []

    /// - Parameter reads: the tables that the observed function reads, depending on their content.
    init(_ transactions: [Transaction], reads: @escaping ([String: Int]) -> Set<String>) {
        self.reads = reads
        watcher = watch.add(nil)
        writerSteps =
            transactions.flatMap { transaction -> [WriterStep] in
                let writes = transaction.tables.flatMap {
                    [.beginWriting, .ask($0), .change($0)] as [WriterStep]
                }
                let end: [WriterStep] = transaction.isCommitted ? [.commit(transaction.tables)] : []
                return writes + end + [.moveClock, .tell(rolledBack: !transaction.isCommitted)]
            }[...]
        if observer.start() { observerSteps = [.beginFetch] }
    }

    private var now: WriteClock.Time {
        WriteClock.Time(transactionCount: time.count, isWriting: time.isWriting)
    }

    var canWrite: Bool { !writerSteps.isEmpty }
    var canObserve: Bool { !observerSteps.isEmpty }

    /// What the observed function gives for a state.
    func value(of state: [String: Int]) -> [String: Int] {
        let tables = reads(state)
        return state.filter { tables.contains($0.key) }
    }

    var currentValue: [String: Int] { value(of: committed) }

    mutating func write() {
        guard let step = writerSteps.popFirst() else { return }
        switch step {
        case .beginWriting:
            time.isWriting = true
        case .ask(let table):
            audience = watch.watchers(of: .insert(tableName: table))
        case .change(let table):
            let event = DatabaseEvent(kind: .insert, databaseName: "main", tableName: table, rowID: 1)
            audience = watch.rowDidChange(event, for: audience)
        case .commit(let tables):
            for table in tables { committed[table, default: 0] += 1 }
        case .moveClock:
            time = (time.count + 1, false)
        case .tell(let rolledBack):
            if !watch.transactionDidEnd(rolledBack: rolledBack).isEmpty { databaseDidChange() }
        }
    }

    mutating func observe() {
        guard !observerSteps.isEmpty else { return }
        switch observerSteps.removeFirst() {
        case .beginFetch:
            observer.willFetch()
            observerSteps = [.readClock]
        case .readClock:
            observerSteps = [.snapshot(now)]
        case .snapshot(let start):
            observerSteps = [.setRegion(start, value: committed)]
        case .setRegion(let start, let state):
            let region = reads(state).reduce(into: DatabaseRegion()) {
                $0.formUnion(DatabaseRegion(table: $1))
            }
            observerSteps = [.deliver(state)]
            if watch.setRegion(region, of: watcher, readSince: start, now: now) { databaseDidChange() }
        case .deliver(let state):
            delivered.append(value(of: state))
            let goesOn = [observer.didFetch(), observer.didReduce()]
            if goesOn.contains(true) { observerSteps = [.beginFetch] }
        }
    }

    private mutating func databaseDidChange() {
        if observer.databaseDidChange() { observerSteps = [.beginFetch] }
    }

    /// What tells two states of the model apart.
    var key: String {
        "\(committed["a"] ?? 0) \(committed["b"] ?? 0) \(time) \(watch) \(audience) \(observer) \(writerSteps.count) \(observerSteps) \(delivered)"
    }
}
