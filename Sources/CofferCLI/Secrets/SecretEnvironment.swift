internal import Glibc
internal import KeyMaterial
internal import Synchronization

/// Environment variables that contain secrets and must not be inherited by child processes.
enum SecretEnvironment {
    private static let taken = Mutex<[String: SharedSecret]>([:])

    /// Removes a secret from the environment and keeps it. Must be called for every source that is named,
    /// before any program is started.
    static func take(_ name: String) {
        taken.withLock { taken in
            guard let value = unsafe getenv(name) else { return }
            let count = unsafe strlen(value)
            taken[name] = unsafe SharedSecret(
                SecretBytes(copying: UnsafeRawBufferPointer(start: value, count: count)))
            // The text is on the initial stack, which the system shows to programs of the same user.
            unsafe memset(value, 0, count)
            unsafe unsetenv(name)
        }
    }

    /// Returns the secret that was taken, or nil if there was no such variable.
    static func secret(_ name: String) -> SharedSecret? { taken.withLock { $0[name] } }
}
