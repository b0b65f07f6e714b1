internal import ArgumentParser

extension ArgumentHelp {
    /// The help for an option with a value.
    static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }
}
