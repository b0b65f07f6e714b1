internal import Glibc
internal import KeyMaterial
internal import Synchronization

/// Environment variables that hold secrets, which programs that are started must not inherit.
enum SecretEnvironment {
    private static let taken = Mutex<[String: SharedSecret]>([:])

    /// Takes the secret out of the environment, and keeps it. To be called for every source that is named,
    /// before any program is started.
    static func take(_ name: String) {
        taken.withLock { taken in
            guard let value = unsafe getenv(name) else { return }
            let count = unsafe strlen(value)
            taken[name] = unsafe SharedSecret(
                SecretBytes(copying: UnsafeRawBufferPointer(start: value, count: count)))
            // The system shows the start of the stack, where the text is, to programs of the same user.
            unsafe memset(value, 0, count)
            unsafe unsetenv(name)
        }
    }

    /// What was taken; nil when there was no such variable.
    static func secret(_ name: String) -> SharedSecret? { taken.withLock { $0[name] } }
}
