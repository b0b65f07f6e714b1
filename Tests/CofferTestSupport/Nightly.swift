import Foundation

/// How long stress tests take: seconds by day, as long as their purpose wants with `COFFER_NIGHTLY=1`.
public enum Nightly {
    public static let isOn = ProcessInfo.processInfo.environment["COFFER_NIGHTLY"] == "1"

    public static func pick<T>(_ nightly: T, byDay: T) -> T { isOn ? nightly : byDay }
}
