internal import Glibc
internal import Synchronization

/// The echo of the terminal, which is off while a secret is typed, and comes back however that ends.
enum TerminalEcho {
    static let crashSignals = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS]

    private struct Settings {
        let descriptor: CInt
        let original: termios
        let silent: termios
    }

    private static let current = Mutex<Settings?>(nil)

    // What the handler of a crash needs: it must neither wait for a lock nor allocate. Written before the
    // handler is set, or by the one thread that is reading a secret; a handler that reads a half-written
    // value in the same instant can only fail to restore.
    nonisolated(unsafe) private static var crashDescriptor: CInt = -1
    // Written and read under the same rule.
    nonisolated(unsafe) private static var crashSettings = termios()

    /// Reads without echo. The echo is back when this returns, whether by an answer or an error.
    static func off<Result: ~Copyable>(on descriptor: CInt, _ body: () throws(Failure) -> Result)
        throws(Failure) -> Result
    {
        var original = termios()
        guard unsafe tcgetattr(descriptor, &original) == 0 else {
            throw Failure(SystemError.last, "The terminal does not let itself be read without echo")
        }
        var silent = original
        silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        let settings = Settings(descriptor: descriptor, original: original, silent: silent)
        unsafe crashSettings = original
        unsafe crashDescriptor = descriptor
        watchCrashes()
        current.withLock { $0 = settings }
        defer { restore() }
        // FLUSH: what was typed before the question does not answer it.
        guard unsafe tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else {
            throw Failure(SystemError.last, "The echo of the terminal cannot be turned off")
        }
        return try body()
    }

    /// Has the terminal get back what it has now, however the process ends: a line editor changes it.
    static func remember(_ descriptor: CInt) {
        var original = termios()
        guard unsafe tcgetattr(descriptor, &original) == 0 else { return }
        let settings = Settings(descriptor: descriptor, original: original, silent: original)
        unsafe crashSettings = original
        unsafe crashDescriptor = descriptor
        watchCrashes()
        current.withLock { $0 = settings }
    }

    static func restore() {
        current.withLock { settings in
            guard var original = settings?.original, let descriptor = settings?.descriptor else { return }
            unsafe tcsetattr(descriptor, TCSADRAIN, &original)
            settings = nil
            unsafe crashDescriptor = -1
        }
    }

    /// Before the process is stopped: the shell gets its echo back.
    static func pause() {
        current.withLock { settings in
            guard var original = settings?.original, let descriptor = settings?.descriptor else { return }
            unsafe tcsetattr(descriptor, TCSADRAIN, &original)
        }
    }

    /// When the process goes on.
    static func resume() {
        current.withLock { settings in
            guard var silent = settings?.silent, let descriptor = settings?.descriptor else { return }
            unsafe tcsetattr(descriptor, TCSADRAIN, &silent)
        }
    }

    /// Signals of a crash: the terminal is restored, and then the signal does what it always does.
    private static func watchCrashes() {
        for number in crashSignals {
            _ = signal(number) { number in
                if unsafe TerminalEcho.crashDescriptor >= 0 {
                    unsafe tcsetattr(TerminalEcho.crashDescriptor, TCSANOW, &TerminalEcho.crashSettings)
                }
                _ = signal(number, SIG_DFL)
                raise(number)
            }
        }
    }
}
