/// The reason why a database cannot be created: it is open, or is being created.
struct DatabaseNameTaken: Error {}

/// Decides which of many databases are open, and which accesses may use them. It is a state machine without
/// files, threads or locks (invariant "Pure state machines").
///
/// A database has a slot from the moment when it begins to open until it is closed, and one that is claimed
/// has a slot until the claim ends. So there are never more open files than slots. A lease keeps a database
/// open. If a slot is needed and none is free, the database that has been without a lease for the longest
/// time is closed.
///
/// A claim is the exclusive use of the file of a closed database: to create it, or for work on it. A database
/// with a lease keeps giving leases while a claim waits, because a task that has one may need another one.
///
/// Each operation returns the actions that it requires. The owner takes them outside its lock.
struct PoolsState<Name: Hashable & Sendable, Pool: Sendable, Waiter: Sendable>: Sendable {
    typealias RequestID = UInt64
    typealias Instant = ContinuousClock.Instant

    /// The purpose of a claim.
    enum Claim: Sendable {
        case creation
        /// Work that may take long. It does not count as an opening.
        case work
    }

    /// The actions that an operation requires.
    struct Actions {
        /// Requests that have ended, with a lease or an error.
        var answers: [(waiter: Waiter, result: Result<Pool, any Error>)] = []

        /// The names of the databases to open. Each opening ends with ``didOpen(_:_:)`` or
        /// ``didFailToOpen(_:_:)``.
        var openings: [Name] = []

        /// The claims that begin, and their requests. Each one ends with ``didEndClaim(_:)``.
        var claims: [(name: Name, claim: Claim, waiter: Waiter)] = []

        /// The databases to close. Each closing ends with ``didClose(_:)``.
        var closings: [(name: Name, pool: Pool)] = []
    }

    private enum Slot: Sendable {
        case opening
        case claimed(Claim)
        /// - Parameter lastUse: the number of the last lease that has ended, for the order of closing.
        case open(Pool, leaseCount: Int, lastUse: UInt64)
        case closing
    }

    // Not private: Swift 6.3.1 fails to compile a generic type of another file for a private type.
    struct Request: Sendable {
        let name: Name
        let waiter: Waiter
    }

    /// The requests for a database that is not open.
    private struct Demand: Sendable {
        /// The requests for a lease.
        var requests: Set<RequestID> = []
        /// The request to create the database.
        var creation: RequestID?
        /// The requests for other claims, in order.
        var works: [RequestID] = []
        /// The place in the line for a slot; nil for a database that has one.
        var place: RequestID?

        var isEmpty: Bool { requests.isEmpty && nextClaim == nil }

        /// The next claim. Claims precede leases.
        var nextClaim: (id: RequestID, claim: Claim)? {
            creation.map { ($0, .creation) } ?? works.first.map { ($0, .work) }
        }

        mutating func remove(_ id: RequestID) {
            if creation == id { creation = nil }
            works.removeAll { $0 == id }
            requests.remove(id)
        }
    }

    let slotCount: Int

    /// The maximum number of databases that are being opened or created at the same time.
    let maximumOpeningCount: Int

    /// The maximum number of those that are not overdue, and of closings that are not.
    let maximumPromptCount: Int

    private var slots: [Name: Slot] = [:]
    private var openingCount = 0
    private var closingCount = 0
    /// The names of the databases whose opening or creation has not ended in time.
    private var overdueOpenings: Set<Name> = []
    private var overdueClosings: Set<Name> = []
    private var useCount: UInt64 = 0
    private var requests = WaitingLine<Request>()
    private var demands: [Name: Demand] = [:]
    /// The names of the databases that need a slot, in the order of their first requests.
    private var line = WaitingLine<Name>()

    private(set) var isClosed = false

    /// - Parameter maximumPromptCount: see the property; nil for no limit.
    init(slotCount: Int, maximumOpeningCount: Int, maximumPromptCount: Int? = nil) {
        self.slotCount = slotCount
        self.maximumOpeningCount = maximumOpeningCount
        self.maximumPromptCount = maximumPromptCount ?? maximumOpeningCount
        precondition(
            slotCount > 0 && maximumOpeningCount > 0 && self.maximumPromptCount > 0,
            "At least one database must be allowed.")
    }

    // MARK: Facts

    /// The number of databases that are open, and of those with a lease.
    var openCounts: (open: Int, leased: Int) {
        slots.values.reduce(into: (0, 0)) { counts, slot in
            guard case .open(_, let leaseCount, _) = slot else { return }
            counts.0 += 1
            if leaseCount > 0 { counts.1 += 1 }
        }
    }

    /// The number of slots in use.
    var usedSlotCount: Int { slots.count }

    var waitingRequestCount: Int { requests.count }

    /// The databases that are open, with or without a lease.
    var openPools: [Pool] {
        slots.values.compactMap { if case .open(let pool, _, _) = $0 { pool } else { nil } }
    }

    func isOpen(_ name: Name) -> Bool {
        if case .open? = slots[name] { true } else { false }
    }

    /// True if a database is being opened, is claimed, or a request for it waits.
    func isAwaited(_ name: Name) -> Bool {
        switch slots[name] {
        case .opening, .claimed: true
        case .open, .closing, nil: demands[name] != nil
        }
    }

    // MARK: Requests

    /// Leases a database that is open; nil if it is not.
    mutating func takeNow(_ name: Name) -> Pool? {
        guard !isClosed, case .open(let pool, let leaseCount, let lastUse)? = slots[name] else { return nil }
        slots[name] = .open(pool, leaseCount: leaseCount + 1, lastUse: lastUse)
        return pool
    }

    /// Leases a database that is leased already; nil if it is not.
    mutating func takeLeased(_ name: Name) -> Pool? {
        guard case .open(_, let leaseCount, _)? = slots[name], leaseCount > 0 else { return nil }
        return takeNow(name)
    }

    /// The database if it is open and has no lease.
    func idlePool(_ name: Name) -> Pool? {
        guard case .open(let pool, 0, _)? = slots[name] else { return nil }
        return pool
    }

    /// Requests a lease for a database that is not open.
    ///
    /// - Throws: the error of a request that may not wait.
    mutating func request(
        _ name: Name, _ waiter: Waiter, within bounds: WaitBounds, now: () -> Instant = { .now }
    ) throws(DatabaseWaitError) -> (id: RequestID, actions: Actions) {
        let request = Request(name: name, waiter: waiter)
        let id = try requests.append(request, for: .openDatabase, within: bounds, now: now)
        demands[name, default: Demand()].requests.insert(id)
        takePlace(name)
        return (id, serve())
    }

    /// Claims a database, or returns false if the caller would have to wait.
    ///
    /// - Throws: ``DatabaseNameTaken`` if the claim is for a creation, and the database is open, or another
    ///   request creates it.
    mutating func claimNow(_ name: Name, for claim: Claim) throws(DatabaseNameTaken) -> Bool {
        try checkCanClaim(name, for: claim)
        guard slots[name] == nil, demands[name] == nil, line.count == 0, slots.count < slotCount, mayOpen
        else { return false }
        begin(claim, of: name)
        return true
    }

    /// Requests a claim. A database without a lease is closed for it, and leases of it then wait for the end
    /// of the claim.
    ///
    /// - Throws: the error of a request that may not wait; ``DatabaseNameTaken`` as in
    ///   ``claimNow(_:for:)``.
    mutating func requestClaim(
        _ name: Name, for claim: Claim, _ waiter: Waiter, within bounds: WaitBounds,
        now: () -> Instant = { .now }
    ) throws -> (id: RequestID, actions: Actions) {
        try checkCanClaim(name, for: claim)
        let request = Request(name: name, waiter: waiter)
        let id = try requests.append(request, for: .openDatabase, within: bounds, now: now)
        switch claim {
        case .creation: demands[name, default: Demand()].creation = id
        case .work: demands[name, default: Demand()].works.append(id)
        }
        var actions = closeIdle(name)
        takePlace(name)
        serve(&actions)
        return (id, actions)
    }

    private func checkCanClaim(_ name: Name, for claim: Claim) throws(DatabaseNameTaken) {
        guard claim == .creation else { return }
        switch slots[name] {
        case .open, .claimed(.creation): throw DatabaseNameTaken()
        case .opening, .closing, .claimed(.work), nil: break
        }
        if demands[name]?.creation != nil { throw DatabaseNameTaken() }
    }

    /// Withdraws a request that waits. Returns false if it has already been answered.
    mutating func cancel(_ id: RequestID) -> Bool {
        guard let request = requests.remove(id) else { return false }
        forget(id, of: request.name)
        return true
    }

    /// Removes the requests that have waited for as long as they may.
    mutating func expire(at now: Instant) -> Actions {
        var actions = Actions()
        for expired in requests.expire(at: now) {
            forget(expired.id, of: expired.element.name)
            actions.answers.append((expired.element.waiter, .failure(expired.error)))
        }
        return actions
    }

    /// Returns the next time to call ``expire(at:)``: see ``WaitingLine/takeAlarm()``.
    mutating func takeAlarm() -> Instant? { requests.takeAlarm() }

    // MARK: Events

    /// Ends a lease.
    mutating func release(_ name: Name) -> Actions {
        guard case .open(let pool, let leaseCount, _)? = slots[name], leaseCount > 0 else {
            preconditionFailure("A lease was returned that had ended.")
        }
        useCount += 1
        slots[name] = .open(pool, leaseCount: leaseCount - 1, lastUse: useCount)
        var actions = closeClaimed(name)
        serve(&actions)
        return actions
    }

    /// Closes a database if it is open and has no lease.
    mutating func closeIdle(_ name: Name) -> Actions {
        var actions = Actions()
        if let pool = idlePool(name) { close(name, pool, &actions) }
        return actions
    }

    /// Records that the opening, creation or closing of a database takes long. Others may begin, because it
    /// may be waiting for the disk, an access, or another process.
    mutating func didBecomeOverdue(_ name: Name) -> Actions {
        switch slots[name] {
        case .opening, .claimed(.creation): overdueOpenings.insert(name)
        case .closing: overdueClosings.insert(name)
        case .open, .claimed(.work), nil: break
        }
        return serve()
    }

    /// Records that a database was opened, and leases it to all requests for it.
    mutating func didOpen(_ name: Name, _ pool: Pool) -> Actions {
        checkIsOpening(name)
        endOpening(of: name)
        useCount += 1
        var actions = Actions()
        actions.answers = endLeases(of: name).map { ($0, .success(pool)) }
        slots[name] = .open(pool, leaseCount: actions.answers.count, lastUse: useCount)
        if let id = demands[name]?.creation, let request = requests.remove(id) {
            forget(id, of: name)
            actions.answers.append((request.waiter, .failure(DatabaseNameTaken())))
        }
        actions.closings = closeClaimed(name).closings
        serve(&actions)
        return actions
    }

    /// Records that a database could not be opened, which is the answer to all requests for a lease.
    mutating func didFailToOpen(_ name: Name, _ error: any Error) -> Actions {
        checkIsOpening(name)
        endOpening(of: name)
        slots[name] = nil
        var actions = Actions()
        actions.answers = endLeases(of: name).map { ($0, .failure(error)) }
        takePlace(name)
        serve(&actions)
        return actions
    }

    /// Records that a claim has ended, and that the database is closed. The next claim begins, or the
    /// database is opened if there are requests for it.
    mutating func didEndClaim(_ name: Name) -> Actions {
        guard case .claimed(let claim)? = slots[name] else {
            preconditionFailure("A claim ended that had not begun.")
        }
        if claim == .creation { endOpening(of: name) }
        slots[name] = nil
        takePlace(name)
        return serve()
    }

    /// Records that a database was closed. It is opened again if there are requests for it.
    mutating func didClose(_ name: Name) -> Actions {
        guard case .closing? = slots[name] else {
            preconditionFailure("A database was closed that was not to be closed.")
        }
        closingCount -= 1
        overdueClosings.remove(name)
        slots[name] = nil
        takePlace(name)
        return serve()
    }

    /// Ends all requests that wait with an error, and closes each database once it has no lease.
    mutating func close(_ error: any Error) -> Actions {
        isClosed = true
        var actions = Actions()
        while let request = requests.removeFirst() {
            actions.answers.append((request.waiter, .failure(error)))
        }
        demands = [:]
        while line.removeFirst() != nil {}
        serve(&actions)
        return actions
    }

    // MARK: Implementation

    /// True if another database may be opened or created, provided that it has a slot.
    private var mayOpen: Bool {
        openingCount < maximumOpeningCount && openingCount - overdueOpenings.count < maximumPromptCount
    }

    private mutating func begin(_ claim: Claim, of name: Name) {
        slots[name] = .claimed(claim)
        if claim == .creation { openingCount += 1 }
    }

    /// Closes a database without a lease if a claim waits for it.
    private mutating func closeClaimed(_ name: Name) -> Actions {
        demands[name]?.nextClaim == nil ? Actions() : closeIdle(name)
    }

    private mutating func endOpening(of name: Name) {
        openingCount -= 1
        overdueOpenings.remove(name)
    }

    private func checkIsOpening(_ name: Name) {
        guard case .opening? = slots[name] else {
            preconditionFailure("A database was opened that was not to be opened.")
        }
    }

    /// Gives a database that needs a slot a place in the line, unless it has one.
    private mutating func takePlace(_ name: Name) {
        guard slots[name] == nil, let demand = demands[name], demand.place == nil else { return }
        demands[name]?.place = line.append(name)
    }

    /// Removes the requests for a lease of a database, and returns those that wait for it.
    private mutating func endLeases(of name: Name) -> [Waiter] {
        guard var demand = demands.removeValue(forKey: name) else { return [] }
        let ids = demand.requests.sorted()
        demand.requests = []
        if !demand.isEmpty { demands[name] = demand }
        return ids.compactMap { requests.remove($0)?.waiter }
    }

    /// Removes a request that was withdrawn, and the place in the line if it was the last one for its
    /// database.
    private mutating func forget(_ id: RequestID, of name: Name) {
        guard var demand = demands.removeValue(forKey: name) else { return }
        demand.remove(id)
        if !demand.isEmpty {
            demands[name] = demand
        } else if let place = demand.place {
            _ = line.remove(place)
        }
    }

    private mutating func serve() -> Actions {
        var actions = Actions()
        serve(&actions)
        return actions
    }

    /// Gives free slots to the databases in the line, and closes others if there are not enough. No more are
    /// closed than can be replaced soon, because a database that stays open may be requested again.
    private mutating func serve(_ actions: inout Actions) {
        while slots.count < slotCount, mayOpen, let name = line.removeFirst() {
            demands[name]?.place = nil
            if let (id, claim) = demands[name]?.nextClaim, let request = requests.remove(id) {
                forget(id, of: name)
                begin(claim, of: name)
                actions.claims.append((name, claim, request.waiter))
            } else {
                slots[name] = .opening
                openingCount += 1
                actions.openings.append(name)
            }
        }
        while isClosed || min(line.count, maximumPromptCount) > soonFreeSlotCount {
            guard let (name, pool) = leastRecentlyUsed() else { return }
            close(name, pool, &actions)
        }
    }

    private var soonFreeSlotCount: Int {
        slotCount - slots.count + closingCount - overdueClosings.count
    }

    private mutating func close(_ name: Name, _ pool: Pool, _ actions: inout Actions) {
        slots[name] = .closing
        closingCount += 1
        actions.closings.append((name, pool))
    }

    /// The database without a lease that was used least recently. It is searched for, because opening a file
    /// costs many times as much as the search.
    private func leastRecentlyUsed() -> (name: Name, pool: Pool)? {
        var oldest: (name: Name, pool: Pool, lastUse: UInt64)?
        for case (let name, .open(let pool, 0, let lastUse)) in slots where lastUse < oldest?.lastUse ?? .max
        {
            oldest = (name, pool, lastUse)
        }
        return oldest.map { ($0.name, $0.pool) }
    }
}
