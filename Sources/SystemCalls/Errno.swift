internal import Glibc

/// The error number of a failed system call.
package struct Errno: Error, Hashable, Sendable {
    package let code: CInt

    package init(_ code: CInt) {
        self.code = code
    }

    /// The error of the last failed call of this thread.
    package static var last: Errno { Errno(errno) }

    /// The system's message, such as "No such file or directory".
    package var words: String { unsafe String(cString: strerror(code)) }

    /// True if the disk is full, or a limit of a user or a process is reached.
    package var isOutOfSpace: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}

/// Makes a system call, repeats it while signals interrupt it, and throws any other error.
///
/// - Parameters:
///   - name: the C function, by which tests choose the calls that fail: see ``Faults``.
///   - call: returns a negative number, and sets `errno`, if it fails.
@discardableResult
package func systemCall<Number: SignedInteger>(_ name: String, _ call: () -> Number) throws(Errno) -> Number {
    while true {
        var error = Faults.error(for: name)
        if error == nil {
            let result = call()
            if result >= 0 { return result }
            error = .last
        }
        if let error, error.code != EINTR { throw error }
    }
}

/// System calls that fail in tests. Compiled out of release builds.
package enum Faults {
    #if DEBUG
    /// A function that is called before each system call of the current task, with its name. If it returns an
    /// error, the call fails with it instead of being made.
    @TaskLocal package static var injected: (@Sendable (_ call: String) -> Errno?)?

    fileprivate static func error(for call: String) -> Errno? { injected?(call) }
    #else
    @inline(__always)
    fileprivate static func error(for call: String) -> Errno? { nil }
    #endif
}
