internal import Glibc
internal import Synchronization
internal import SystemCalls

/// The echo of the terminal, which is off while a secret is typed and is always restored.
enum TerminalEcho {
    static let crashSignals = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS]

    private struct Settings {
        let descriptor: CInt
        let original: termios
        let silent: termios

        func apply(_ path: KeyPath<Settings, termios>) {
            var settings = self[keyPath: path]
            unsafe tcsetattr(descriptor, TCSADRAIN, &settings)
        }
    }

    private static let current = Mutex<Settings?>(nil)

    // The data for the crash handler, which must neither wait for a lock nor allocate. It is written before
    // the handler is set, or by the one thread that is reading a secret. A handler that reads a partially
    // written value at that instant can only fail to restore the terminal.
    nonisolated(unsafe) private static var crashDescriptor: CInt = -1
    // Written and read under the same rule.
    nonisolated(unsafe) private static var crashSettings = termios()

    /// Calls `body` with the echo off, and restores the echo when `body` returns or throws.
    static func off<Result: ~Copyable>(on descriptor: CInt, _ body: () throws(Failure) -> Result)
        throws(Failure) -> Result
    {
        var original = termios()
        guard unsafe tcgetattr(descriptor, &original) == 0 else {
            throw Failure(Errno.last, "The settings of the terminal cannot be read")
        }
        var silent = original
        silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        set(Settings(descriptor: descriptor, original: original, silent: silent))
        defer { restore() }
        // FLUSH: discards input that was typed before the prompt.
        guard unsafe tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else {
            throw Failure(Errno.last, "The echo of the terminal cannot be turned off")
        }
        return try body()
    }

    /// Saves the current settings of the terminal, to restore them however the process ends: a line editor
    /// changes them.
    static func remember(_ descriptor: CInt) {
        var original = termios()
        guard unsafe tcgetattr(descriptor, &original) == 0 else { return }
        set(Settings(descriptor: descriptor, original: original, silent: original))
    }

    private static func set(_ settings: Settings) {
        unsafe crashSettings = settings.original
        unsafe crashDescriptor = settings.descriptor
        watchCrashes()
        current.withLock { $0 = settings }
    }

    static func restore() {
        current.withLock { settings in
            guard settings != nil else { return }
            settings?.apply(\.original)
            settings = nil
            unsafe crashDescriptor = -1
        }
    }

    /// Restores the echo for the shell before the process is stopped.
    static func pause() { current.withLock { $0?.apply(\.original) } }

    /// Turns the echo off again when the process resumes.
    static func resume() { current.withLock { $0?.apply(\.silent) } }

    /// Installs handlers for crash signals, which restore the terminal before the signal takes its default
    /// action.
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
