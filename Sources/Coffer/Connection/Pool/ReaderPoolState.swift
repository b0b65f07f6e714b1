/// Decides who may use which reader connection, and when: a state machine without connections, threads or
/// locks (I9).
///
/// Requests are served in the order of their arrival. A barrier waits until the accesses before it have
/// ended, and the requests that come after it wait for it: neither a barrier nor a reader can be starved.
///
/// Each operation returns the requests that can go on now; the owner resumes them outside of its lock.
struct ReaderPoolState<Reader: Sendable>: Sendable {
    typealias RequestID = UInt64

    /// What a request got.
    enum Grant: Sendable {
        /// A reader connection that was idle.
        case reader(Reader)

        /// The right to open a reader connection, which ``didFailToOpenReader()`` gives back.
        case newReader

        /// Exclusive access: no reader is in use until ``endBarrier()``.
        case barrier
    }

    private enum Kind: Sendable {
        case reader
        case barrier
    }

    private struct Waiter: Sendable {
        let id: RequestID
        /// Nil once the request is taken back.
        var kind: Kind?
    }

    let maximumReaderCount: Int

    /// How many readers are in use, counting those that are being opened.
    private(set) var busyCount = 0

    /// Readers that nobody uses. The one that was used last is used first: its page cache is warm.
    private(set) var idleReaders: [Reader] = []

    private(set) var isBarrierActive = false

    /// Readers that were opened before the last invalidation are closed instead of used again.
    private(set) var generation: UInt64 = 0

    /// The line, in the order of the identifiers; what is before `waitingStart` was served.
    private var waiting: [Waiter] = []
    private var waitingStart = 0
    private var waitingCount = 0
    private var nextID: RequestID = 0

    init(maximumReaderCount: Int) {
        precondition(maximumReaderCount > 0, "A pool needs at least one reader.")
        self.maximumReaderCount = maximumReaderCount
    }

    /// How many requests wait.
    var waitingRequestCount: Int { waitingCount }

    // MARK: Requests

    /// What a request would be granted at once. Nil if it had to wait, and then nothing is asked.
    mutating func takeReaderNow() -> Grant? {
        waitingCount == 0 ? takeReader() : nil
    }

    /// Asks for a reader. The request waits if the result is nil.
    mutating func requestReader() -> (id: RequestID, grant: Grant?) {
        let id = makeID()
        if waitingCount == 0, let grant = takeReader() { return (id, grant) }
        enqueue(id, .reader)
        return (id, nil)
    }

    /// Asks for exclusive access. The request waits if the result is nil.
    mutating func requestBarrier() -> (id: RequestID, grant: Grant?) {
        let id = makeID()
        if waitingCount == 0, busyCount == 0, !isBarrierActive {
            isBarrierActive = true
            return (id, .barrier)
        }
        enqueue(id, .barrier)
        return (id, nil)
    }

    /// Takes a waiting request back. False if it does not wait any more: it was granted, and must be given
    /// back as usual.
    mutating func cancel(_ id: RequestID) -> (wasWaiting: Bool, granted: [(RequestID, Grant)]) {
        guard let index = indexOfWaiter(id), waiting[index].kind != nil else { return (false, []) }
        waiting[index].kind = nil
        waitingCount -= 1
        // It may have been what the others waited for: a barrier at the head.
        return (true, serve())
    }

    // MARK: Ends

    /// Gives a reader back.
    ///
    /// - Parameter generation: the generation in which the reader was opened. One of an older generation is
    ///   dropped.
    mutating func release(_ reader: Reader, generation: UInt64) -> [(RequestID, Grant)] {
        busyCount -= 1
        if generation == self.generation { idleReaders.append(reader) }
        return serve()
    }

    /// Gives back the right to open a reader that could not be opened.
    mutating func didFailToOpenReader() -> [(RequestID, Grant)] {
        busyCount -= 1
        return serve()
    }

    /// Ends exclusive access.
    mutating func endBarrier() -> [(RequestID, Grant)] {
        isBarrierActive = false
        return serve()
    }

    /// Takes the idle readers out, to be closed, and marks those in use to be closed when they come back.
    mutating func invalidate() -> [Reader] {
        generation += 1
        return removeIdleReaders()
    }

    /// Takes the idle readers out, to be closed.
    mutating func removeIdleReaders() -> [Reader] {
        defer { idleReaders.removeAll() }
        return idleReaders
    }

    /// Puts a reader that was opened elsewhere at the disposal of requests.
    mutating func addIdleReader(_ reader: Reader) {
        idleReaders.append(reader)
    }

    /// Takes an idle reader into use without a request, if nobody waits; it is given back with
    /// ``release(_:generation:)``.
    mutating func takeIdleReader() -> Reader? {
        guard waitingCount == 0, !isBarrierActive, busyCount < maximumReaderCount,
            let reader = idleReaders.popLast()
        else { return nil }
        busyCount += 1
        return reader
    }

    // MARK: Inside

    private mutating func makeID() -> RequestID {
        nextID += 1
        return nextID
    }

    private mutating func enqueue(_ id: RequestID, _ kind: Kind) {
        waiting.append(Waiter(id: id, kind: kind))
        waitingCount += 1
    }

    /// Where a request is in the line, by bisection: thousands of them may be taken back at once.
    private func indexOfWaiter(_ id: RequestID) -> Int? {
        var low = waitingStart
        var high = waiting.count
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < waiting.count && waiting[low].id == id ? low : nil
    }

    private mutating func takeReader() -> Grant? {
        guard !isBarrierActive, busyCount < maximumReaderCount else { return nil }
        busyCount += 1
        if let reader = idleReaders.popLast() { return .reader(reader) }
        return .newReader
    }

    /// Grants what waits, from the head of the line, as far as it goes.
    private mutating func serve() -> [(RequestID, Grant)] {
        var granted: [(RequestID, Grant)] = []
        while waitingStart < waiting.count {
            let head = waiting[waitingStart]
            switch head.kind {
            case nil:
                waitingStart += 1
                continue
            case .reader:
                guard let grant = takeReader() else { return compacting(granted) }
                granted.append((head.id, grant))
            case .barrier:
                guard busyCount == 0, !isBarrierActive else { return compacting(granted) }
                isBarrierActive = true
                granted.append((head.id, .barrier))
            }
            waitingStart += 1
            waitingCount -= 1
        }
        return compacting(granted)
    }

    /// Drops the part of the line that was served, once it is half of it.
    private mutating func compacting<T>(_ result: T) -> T {
        if waitingStart > 32, waitingStart * 2 > waiting.count {
            waiting.removeFirst(waitingStart)
            waitingStart = 0
        }
        return result
    }
}
