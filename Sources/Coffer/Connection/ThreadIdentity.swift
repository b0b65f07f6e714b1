internal import Glibc

/// The identity of the current thread, which is never zero.
@inline(__always)
func currentThreadID() -> UInt {
    UInt(pthread_self())
}
