/// Decides which request may use a reader connection, and when. It is a state machine without connections,
/// threads or locks (invariant "Pure state machines").
///
/// Requests are served in the order of their arrival. A barrier waits for the earlier accesses to end, and
/// later requests wait for the barrier, so that neither barriers nor readers can starve.
///
/// Each operation returns the requests that are granted by it. The owner resumes them outside its lock.
struct ReaderPoolState<Reader: Sendable>: Sendable {
    typealias RequestID = UInt64
    typealias Instant = ContinuousClock.Instant

    /// The answer to a request.
    enum Grant: Sendable {
        /// An idle reader connection.
        case reader(Reader)

        /// The right to open a reader connection. ``didFailToOpenReader()`` returns it.
        case newReader

        /// Exclusive access: no reader is in use until ``endBarrier()``.
        case barrier
    }

    // Not private: Swift 6.3.1 fails to compile a generic type of another file for a private type.
    enum Kind: Sendable {
        case reader
        case barrier
    }

    let maximumReaderCount: Int

    /// The number of readers in use, including readers that are being opened.
    private(set) var busyCount = 0

    /// The idle readers. The most recently used one is taken first, because its page cache is warm.
    private(set) var idleReaders: [Reader] = []

    private(set) var isBarrierActive = false

    /// The current generation. Readers of an older generation are closed instead of reused.
    private(set) var generation: UInt64 = 0

    private var line = WaitingLine<Kind>()

    init(maximumReaderCount: Int) {
        precondition(maximumReaderCount > 0, "A pool needs at least one reader.")
        self.maximumReaderCount = maximumReaderCount
    }

    /// The number of waiting requests.
    var waitingRequestCount: Int { line.count }

    // MARK: Requests

    /// Grants a reader, or returns nil without a request if the caller would have to wait.
    mutating func takeReaderNow() -> Grant? {
        line.count == 0 ? takeReader() : nil
    }

    /// Requests a reader. The request waits if the grant is nil.
    ///
    /// - Throws: the error of a request that may not wait.
    mutating func requestReader(
        within bounds: WaitBounds = .none, now: () -> Instant = { .now }
    ) throws(DatabaseWaitError) -> (id: RequestID, grant: Grant?) {
        if let grant = takeReaderNow() { return (line.makeID(), grant) }
        return (try line.append(.reader, for: .reader, within: bounds, now: now), nil)
    }

    /// Requests exclusive access. The request waits if the grant is nil.
    ///
    /// - Throws: the error of a request that may not wait.
    mutating func requestBarrier(
        within bounds: WaitBounds = .none, now: () -> Instant = { .now }
    ) throws(DatabaseWaitError) -> (id: RequestID, grant: Grant?) {
        if line.count == 0, busyCount == 0, !isBarrierActive {
            isBarrierActive = true
            return (line.makeID(), .barrier)
        }
        return (try line.append(.barrier, for: .exclusiveAccess, within: bounds, now: now), nil)
    }

    /// Cancels a waiting request. `wasWaiting` is false if the request is no longer waiting: it was granted,
    /// and its grant must be returned as usual.
    mutating func cancel(_ id: RequestID) -> (wasWaiting: Bool, granted: [(RequestID, Grant)]) {
        guard line.remove(id) != nil else { return (false, []) }
        // Others may have waited for this request, if it was a barrier at the head.
        return (true, serve())
    }

    /// Removes the requests that have waited for as long as they may.
    mutating func expire(at now: Instant) -> (
        expired: [(RequestID, DatabaseWaitError)], granted: [(RequestID, Grant)]
    ) {
        let expired = line.expire(at: now).map { ($0.id, $0.error) }
        return (expired, serve())
    }

    /// Returns the next time to call ``expire(at:)``: see ``WaitingLine/takeAlarm()``.
    mutating func takeAlarm() -> Instant? { line.takeAlarm() }

    // MARK: Returns

    /// Returns a reader to the pool.
    ///
    /// - Parameter generation: the generation in which the reader was opened. A reader of an older generation
    ///   is dropped.
    mutating func release(_ reader: Reader, generation: UInt64) -> [(RequestID, Grant)] {
        busyCount -= 1
        if generation == self.generation { idleReaders.append(reader) }
        return serve()
    }

    /// Returns the right to open a reader, after it could not be opened.
    mutating func didFailToOpenReader() -> [(RequestID, Grant)] {
        busyCount -= 1
        return serve()
    }

    /// Ends exclusive access.
    mutating func endBarrier() -> [(RequestID, Grant)] {
        isBarrierActive = false
        return serve()
    }

    /// Removes the idle readers, which the caller closes, and marks the busy ones to be closed when they are
    /// returned.
    mutating func invalidate() -> [Reader] {
        generation += 1
        return removeIdleReaders()
    }

    /// Removes the idle readers, which the caller closes.
    mutating func removeIdleReaders() -> [Reader] {
        defer { idleReaders.removeAll() }
        return idleReaders
    }

    /// Adds a reader that was opened elsewhere.
    mutating func addIdleReader(_ reader: Reader) {
        idleReaders.append(reader)
    }

    /// Takes an idle reader without a request, if no request is waiting. It is returned with
    /// ``release(_:generation:)``.
    mutating func takeIdleReader() -> Reader? {
        guard line.count == 0, !isBarrierActive, busyCount < maximumReaderCount,
            let reader = idleReaders.popLast()
        else { return nil }
        busyCount += 1
        return reader
    }

    // MARK: Implementation

    private mutating func takeReader() -> Grant? {
        guard !isBarrierActive, busyCount < maximumReaderCount else { return nil }
        busyCount += 1
        if let reader = idleReaders.popLast() { return .reader(reader) }
        return .newReader
    }

    /// Grants waiting requests from the head of the queue, until one has to wait.
    private mutating func serve() -> [(RequestID, Grant)] {
        var granted: [(RequestID, Grant)] = []
        while let (id, kind) = line.first {
            switch kind {
            case .reader:
                guard let grant = takeReader() else { return granted }
                granted.append((id, grant))
            case .barrier:
                guard busyCount == 0, !isBarrierActive else { return granted }
                isBarrierActive = true
                granted.append((id, .barrier))
            }
            line.removeFirst()
        }
        return granted
    }
}
