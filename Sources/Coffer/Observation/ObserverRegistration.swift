internal import Glibc

/// One registration of an observer with a connection.
final class ObserverRegistration {
    private weak var weakObserver: (any TransactionObserver)?
    private let strongObserver: (any TransactionObserver)?

    let extent: Database.TransactionObservationExtent

    /// True if the observer has paused its notifications until the next transaction.
    var isPaused = false

    /// True if the observer is known not to implement ``TransactionObserver/databaseWillChange(with:)``, so
    /// that no values are read for it.
    var ignoresChangesAhead = false

    /// True if the observer was removed. Notifications in progress skip it.
    var isRemoved = false

    init(_ observer: any TransactionObserver, extent: Database.TransactionObservationExtent) {
        self.extent = extent
        switch extent {
        case .observerLifetime:
            weakObserver = observer
            strongObserver = nil
        case .nextTransaction, .databaseLifetime:
            strongObserver = observer
        }
    }

    /// The observer, if it is still alive and was not removed.
    var observer: (any TransactionObserver)? {
        isRemoved ? nil : strongObserver ?? weakObserver
    }

    func isRegistration(of observer: any TransactionObserver) -> Bool {
        self.observer === observer
    }

    func observes(_ kind: DatabaseEventKind) -> Bool {
        !isPaused && observer?.observes(eventsOfKind: kind) == true
    }

    func send(_ event: DatabaseEvent) {
        guard !isPaused, let observer else { return }
        asCurrent { observer.databaseDidChange(with: event) }
    }

    func send(_ event: DatabasePreUpdateEvent) {
        guard !isPaused, !ignoresChangesAhead, let observer else { return }
        asCurrent { observer.databaseWillChange(with: event) }
    }

    func sendUnspecifiedChange() {
        guard !isPaused, let observer else { return }
        asCurrent { observer.databaseDidChange() }
    }
}

/// The observers of a connection, in the order in which they were added.
struct ObserverRegistrations {
    private var list: [ObserverRegistration] = []

    var isEmpty: Bool { list.isEmpty }

    mutating func add(_ observer: any TransactionObserver, extent: Database.TransactionObservationExtent) {
        list.append(ObserverRegistration(observer, extent: extent))
    }

    mutating func remove(_ observer: any TransactionObserver) {
        for registration in list where registration.isRegistration(of: observer) {
            registration.isRemoved = true
        }
        removeUseless()
    }

    /// Discards observers that were removed or deinitialized.
    mutating func removeUseless() { list.removeAll { $0.observer == nil } }

    /// Returns the observers of some kinds of changes.
    func observing(_ kinds: [DatabaseEventKind]) -> [ObserverRegistration] {
        list.filter { kinds.contains(where: $0.observes) }
    }

    /// - Throws: the error of the first observer that refuses the commit.
    func askForPermission() throws {
        for registration in list { try registration.observer?.databaseWillCommit() }
    }

    /// Returns the observers to notify at the end of a transaction. Paused observers are resumed, and
    /// one-transaction observers are removed.
    mutating func transactionDidEnd() -> [ObserverRegistration] {
        defer { list.removeAll { $0.extent == .nextTransaction } }
        for registration in list { registration.isPaused = false }
        return list
    }
}

// MARK: - The observation that is being notified

extension ObserverRegistration {
    /// The key of the current observation. A thread-specific value costs a few nanoseconds; a lock or a
    /// task-local value would cost as much as the rest of the event.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key, nil)
        precondition(code == 0, "The process has no thread-specific keys left.")
        return key
    }()

    /// The observation whose observer is being notified of a change on the current thread.
    static var current: ObserverRegistration? {
        guard let pointer = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<ObserverRegistration>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The pointer is stored in the thread only during this call, which keeps `self` alive.
    private func asCurrent(_ body: () -> Void) {
        let previous = unsafe pthread_getspecific(Self.key)
        unsafe pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        body()
        unsafe pthread_setspecific(Self.key, previous)
    }
}
