@testable import Coffer

/// A model of the decisions of a writer and of an observer that reads on another connection. It runs step by
/// step, so every interleaving can be tested.
///
/// The database has two numbers, `a` and `b`. The other side can act between any two steps: a lock, an atomic
/// number, or the moment at which SQLite makes a commit visible.
struct ObservationModel {
    /// A transaction, with the numbers that it increments and its outcome.
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

    /// Returns the tables that the observed function reads in a state of the database.
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

    /// - Parameter reads: returns the tables that the observed function reads, depending on their content.
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

    /// Returns the value of the observed function for a state.
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

    /// Identifies a state of the model.
    var key: String {
        "\(committed["a"] ?? 0) \(committed["b"] ?? 0) \(time) \(watch) \(audience) \(observer) \(writerSteps.count) \(observerSteps) \(delivered)"
    }
}
