import CofferTestSupport
import Foundation
import Glibc

/// A program that runs on its own terminal, for tests of interactive behavior.
final class PseudoTerminal {
    private let master: Int32
    private let slave: Int32
    let processID: pid_t
    /// All text that the terminal has shown.
    private(set) var screen = ""

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(
        _ program: String, _ arguments: [String], folder: String, columns: UInt16 = 80,
        environment added: [String: String] = [:]
    ) throws {
        var master: Int32 = -1
        var slave: Int32 = -1
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard unsafe openpty(&master, &slave, nil, nil, &size) == 0, let name = unsafe ttyname(slave) else {
            throw Failure(description: "no pseudo-terminal: errno \(errno)")
        }
        self.master = master
        self.slave = slave
        _ = fcntl(master, F_SETFD, FD_CLOEXEC)
        _ = fcntl(slave, F_SETFD, FD_CLOEXEC)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that a session leader opens becomes the controlling terminal.
        unsafe posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        // The parent of the tests may ignore signals, which child processes would inherit.
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        // 0x80 is POSIX_SPAWN_SETSID, which is not imported.
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(0x80 | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = ["/bin/sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh", folder, program] + arguments
        var copies: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { for index in words.indices { unsafe free(copies[index]) } }
        let environment = [
            "TERM": "xterm", "HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "COFFER_PAGER": "",
        ].merging(added) {
            $1
        }.map { "\($0)=\($1)" }
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { for index in environment.indices { unsafe free(variables[index]) } }
        var process = pid_t()
        let code = unsafe posix_spawn(&process, words[0], &actions, &attributes, &copies, &variables)
        guard code == 0 else { throw Failure(description: "cannot run \(program): error \(code)") }
        processID = process
    }

    deinit {
        close(master)
        close(slave)
    }

    var hasEcho: Bool {
        var settings = termios()
        return unsafe tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Waits until the terminal shows a text that was not shown before the last call. Fails if it never
    /// appears.
    func expect(_ text: String) throws {
        let deadline = ContinuousClock.now + .seconds(Patience.seconds)
        while !unseen.contains(text) {
            guard ContinuousClock.now < deadline else {
                throw Failure(description: "no '\(text)' in '\(screen)'")
            }
            read(milliseconds: 50)
        }
        if let range = unseen.range(of: text) { seen = String(screen[..<range.upperBound]).count }
    }

    /// Waits for a prompt, and until the editor reads keys. Earlier, Ctrl-C would discard the typed text, as
    /// at any terminal.
    func prompt(_ text: String) throws {
        try expect(text)
        try wait("read by an editor") { !hasEcho }
    }

    private var seen = 0
    private var unseen: Substring { screen.dropFirst(seen) }

    func type(_ text: String) {
        var text = text
        text.withUTF8 { bytes in _ = unsafe write(master, bytes.baseAddress, bytes.count) }
    }

    /// Waits until a condition holds.
    func wait(_ what: String, until isTrue: () -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(Patience.seconds)
        while !isTrue() {
            guard ContinuousClock.now < deadline else {
                throw Failure(description: "never \(what); '\(screen)'")
            }
            read(milliseconds: 10)
        }
    }

    /// Waits for the end of the program and returns the exit code, or a signal as a negative number.
    func end() throws -> Int32 {
        var status: Int32 = 0
        try wait("ended") { unsafe waitpid(processID, &status, WNOHANG) == processID }
        read(milliseconds: 0)
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
    }

    func send(_ signal: Int32) { kill(processID, signal) }

    private func read(milliseconds: Int32) {
        var request = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&request, 1, milliseconds) > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(master, &bytes, bytes.count)
        if count > 0 { screen += String(decoding: bytes[..<count], as: UTF8.self) }
    }
}
