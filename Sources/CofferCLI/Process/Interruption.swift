internal import Dispatch
internal import Glibc
internal import Synchronization

/// Signals that ask the tool to end.
///
/// All threads block them, and one thread waits for them, so that what a signal causes is ordinary code.
/// Outside of ``cooperatively(onSignal:_:)`` a signal ends the process at once; inside, the work is asked to
/// end with every file whole, and a second signal ends the process at once: every step is safe against that
/// too.
final class Interruption: Sendable {
    static let shared = Interruption()

    private struct State {
        var signal: CInt?
        var cooperations = 0
        var nextID = 0
        var reactions: [(id: Int, reaction: @Sendable () -> Void)] = []
        /// Says the last words of the process.
        var farewell: (@Sendable (ExitStatus) -> Void)?
        /// What SIGINT does while a person talks to the process.
        var conversation: Conversation?
    }

    private struct Conversation {
        let id: Int
        let reaction: @Sendable () -> Void
        let isRepeated: @Sendable () -> Bool
    }

    private let state = Mutex(State())

    private static let endingSignals = [SIGINT, SIGTERM, SIGHUP]

    /// Has the calling thread, and those that it starts, leave signals to a thread of their own. To be called
    /// before there are others.
    func install() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in Interruption.endingSignals + [SIGTSTP, SIGQUIT] where !Interruption.isIgnored(signal) {
            unsafe sigaddset(&set, signal)
        }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        // A reader that went away is an error of writing, not the end of a rotation.
        _ = signal(SIGPIPE, SIG_IGN)
        // Files that grow beyond a limit too.
        _ = signal(SIGXFSZ, SIG_IGN)
        let waited = set
        Thread.detach { [self] in
            var waited = waited
            while true {
                var number: CInt = 0
                if unsafe sigwait(&waited, &number) == 0 { received(number) }
            }
        }
    }

    /// `nohup` and shells without job control want some signals to be ignored.
    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        let ignoring = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        return handler == ignoring
    }

    // MARK: Work

    /// The signal that asked for the end, if one did.
    var status: ExitStatus? { state.withLock { $0.signal }.map(Interruption.status) }

    /// What to throw where work ends because it was asked to.
    func failure(_ status: ExitStatus) -> Failure {
        Failure(
            status, "interrupted", "Interrupted. Every file is whole; run the command again to complete it.")
    }

    func check() throws(Failure) {
        if let status { throw failure(status) }
    }

    /// Runs work that a signal is to end in good order.
    ///
    /// - Parameter onSignal: called on another thread when a signal comes, or has come.
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

    /// Runs a conversation: SIGINT ends what is being done, and not the process.
    ///
    /// - Parameters:
    ///   - reaction: called on another thread for each SIGINT.
    ///   - isRepeated: whether the reaction is to be called again, a moment after it was.
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
            // To this thread, which must not run on while the others stop: it would turn the echo off again.
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
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { [self] in
            guard conversation.isRepeated(), state.withLock({ $0.conversation?.id }) == conversation.id else {
                return
            }
            converse(conversation)
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

    /// Again and again until the work has ended: SQLite forgets an interruption that comes just before a
    /// statement begins.
    private func react() {
        let reactions = state.withLock { $0.reactions.map(\.reaction) }
        guard !reactions.isEmpty else { return }
        for reaction in reactions { reaction() }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { [self] in react() }
    }

    private static func status(of signal: CInt) -> ExitStatus {
        switch signal {
        case SIGINT: .interrupted
        case SIGTERM: .terminated
        default: .runAgain
        }
    }
}

/// Threads without a result.
private enum Thread {
    static func detach(_ body: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "coffer.signals")
        queue.async(execute: body)
    }
}
