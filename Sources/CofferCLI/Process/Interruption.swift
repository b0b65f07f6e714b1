internal import Glibc
internal import Synchronization
internal import SystemCalls

/// The signals that ask the tool to end.
///
/// All threads block them, and a dedicated thread waits for them, so the reaction to a signal is ordinary
/// code. Outside of ``cooperatively(onSignal:_:)``, a signal ends the process at once. Inside, it asks the
/// work to end with every file intact. A second signal ends the process at once; every step is safe against
/// that too.
final class Interruption: Sendable {
    static let shared = Interruption()

    private struct State {
        var signal: CInt?
        var cooperations = 0
        var nextID = 0
        var reactions: [(id: Int, reaction: @Sendable () -> Void)] = []
        /// Reports the end of the process.
        var farewell: (@Sendable (ExitStatus) -> Void)?
        /// The reaction to SIGINT while a person interacts with the process.
        var conversation: Conversation?
    }

    private struct Conversation {
        let id: Int
        let reaction: @Sendable () -> Void
        let isRepeated: @Sendable () -> Bool
    }

    private let state = Mutex(State())

    private static let endingSignals = [SIGINT, SIGTERM, SIGHUP]

    /// Blocks the signals in the calling thread and all threads that it starts, and starts the thread that
    /// receives them. Must be called before there are other threads.
    func install() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in Interruption.endingSignals + [SIGTSTP, SIGQUIT] where !Interruption.isIgnored(signal) {
            unsafe sigaddset(&set, signal)
        }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        // A reader that closes its pipe causes a write error, and must not end a rotation.
        _ = signal(SIGPIPE, SIG_IGN)
        // The same applies to files that exceed a size limit.
        _ = signal(SIGXFSZ, SIG_IGN)
        let waited = set
        OwnThread.run { [self] in
            var waited = waited
            while true {
                var number: CInt = 0
                if unsafe sigwait(&waited, &number) == 0 { received(number) }
            }
        }
    }

    /// Returns true if the process was started with the signal ignored, as `nohup` and shells without job
    /// control do.
    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        let ignoring = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        return handler == ignoring
    }

    // MARK: Work

    /// The exit status for the signal that was received, or nil if there was none.
    var status: ExitStatus? { state.withLock { $0.signal }.map(Interruption.status) }

    /// Returns the failure to throw if work ends because of a signal.
    func failure(_ status: ExitStatus) -> Failure {
        Failure(
            status, "interrupted",
            "Interrupted. No file is left half-changed; run the command again to complete it.")
    }

    /// Returns the failure that an error stands for, taking into account a signal that may have caused it.
    func failure(_ error: any Error) -> Failure {
        let failure = Failure(error)
        guard failure.status == .runAgain, failure.done == .none, let status else { return failure }
        // The status for SIGHUP is the same, and the failure has better words already.
        if error is Failure, failure.reason == "interrupted", status == .runAgain { return failure }
        return self.failure(status)
    }

    func check() throws(Failure) {
        if let status { throw failure(status) }
    }

    /// Runs work that a signal is to end in an orderly way.
    ///
    /// - Parameter onSignal: called on another thread when a signal arrives, or if one has arrived already.
    func cooperatively<Result>(
        onSignal reaction: @escaping @Sendable () -> Void = {}, _ body: () throws -> Result
    ) throws -> Result {
        try check()
        let (id, isLate) = state.withLock { state in
            state.cooperations += 1
            state.nextID += 1
            state.reactions.append((state.nextID, reaction))
            return (state.nextID, state.signal != nil)
        }
        defer {
            state.withLock { state in
                state.cooperations -= 1
                state.reactions.removeAll { $0.id == id }
            }
        }
        if isLate { react() }
        return try body()
    }

    /// Runs the last step of work that changed something, such as its record. A signal does not end the
    /// process before the end of the step, because its message would say that nothing was done.
    func completing<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.cooperations += 1 }
        defer { state.withLock { $0.cooperations -= 1 } }
        return try body()
    }

    /// Runs an interactive session, in which SIGINT ends the current work but not the process.
    ///
    /// - Parameters:
    ///   - reaction: called on another thread for each SIGINT.
    ///   - isRepeated: returns true if the reaction is to be called again after a moment.
    func conversationally<Result>(
        onInterrupt reaction: @escaping @Sendable () -> Void,
        repeatedWhile isRepeated: @escaping @Sendable () -> Bool,
        _ body: () throws -> Result
    ) rethrows -> Result {
        state.withLock { state in
            state.nextID += 1
            state.conversation = Conversation(id: state.nextID, reaction: reaction, isRepeated: isRepeated)
        }
        defer { state.withLock { $0.conversation = nil } }
        return try body()
    }

    func setFarewell(_ farewell: @escaping @Sendable (ExitStatus) -> Void) {
        state.withLock { $0.farewell = farewell }
    }

    // MARK: Signals

    private func received(_ signal: CInt) {
        switch signal {
        case SIGTSTP:
            TerminalEcho.pause()
            // Stop this thread first. If it continued while the others stop, it would turn the echo off
            // again.
            raise(SIGSTOP)
            TerminalEcho.resume()
        case SIGQUIT:
            TerminalEcho.restore()
            _exit(128 + SIGQUIT)
        case SIGINT:
            if let conversation = state.withLock({ $0.conversation }) {
                converse(conversation)
            } else {
                asked(toEndBy: signal)
            }
        default:
            asked(toEndBy: signal)
        }
    }

    private func converse(_ conversation: Conversation) {
        conversation.reaction()
        guard conversation.isRepeated() else { return }
        Interruption.repeatedly { [self] in
            guard conversation.isRepeated(), state.withLock({ $0.conversation?.id }) == conversation.id else {
                return false
            }
            conversation.reaction()
            return conversation.isRepeated()
        }
    }

    private func asked(toEndBy signal: CInt) {
        let (isSecond, isCooperative, farewell) = state.withLock { state in
            defer { state.signal = state.signal ?? signal }
            return (state.signal != nil, state.cooperations > 0, state.farewell)
        }
        if isCooperative && !isSecond {
            react()
            return
        }
        TerminalEcho.restore()
        let status = Interruption.status(of: signal)
        if !isSecond { farewell?(status) }
        _exit(status.rawValue)
    }

    /// Calls the reactions repeatedly until the work has ended: SQLite forgets an interrupt that arrives just
    /// before a statement begins.
    private func react() {
        guard callReactions() else { return }
        Interruption.repeatedly { [self] in callReactions() }
    }

    /// Returns false if there are no reactions: the work has ended.
    private func callReactions() -> Bool {
        let reactions = state.withLock { $0.reactions.map(\.reaction) }
        for reaction in reactions { reaction() }
        return !reactions.isEmpty
    }

    /// Calls `body` every 20 milliseconds on another thread, until it returns false. Timers of Dispatch would
    /// open files, and end the process if it has no free descriptor.
    private static func repeatedly(_ body: @escaping @Sendable () -> Bool) {
        OwnThread.run {
            repeat { usleep(20_000) } while body()
        }
    }

    private static func status(of signal: CInt) -> ExitStatus {
        switch signal {
        case SIGINT: .interrupted
        case SIGTERM: .terminated
        default: .runAgain
        }
    }
}
