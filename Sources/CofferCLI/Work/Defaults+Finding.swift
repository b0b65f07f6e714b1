extension Defaults {
    /// The results of `coffer doctor`.
    static var findings: [Finding] {
        switch read {
        case .failure(let failure):
            [
                Finding(
                    "defaults", failure.message,
                    advice: "Until then, commands that take keys fail with exit code "
                        + "\(failure.status.rawValue).")
            ]
        case .success(let defaults):
            defaults.entries.isEmpty
                ? [Finding("defaults", "none, neither in the environment nor in a configuration")]
                : defaults.entries.map { Finding("default \($0.name)", $0.words) }
        }
    }
}
