import Foundation

/// The duration of stress tests: seconds by default, as long as their purpose needs with `COFFER_NIGHTLY=1`.
public enum Nightly {
    public static let isOn = ProcessInfo.processInfo.environment["COFFER_NIGHTLY"] == "1"

    public static func pick<T>(_ nightly: T, byDay: T) -> T { isOn ? nightly : byDay }
}
