internal import Foundation

extension DatabaseFunction {
    /// Swift's `capitalized`, in SQL `swiftCapitalizedString`. NULL if the argument is not a string.
    public static let capitalize = DatabaseFunction(transforming: "swiftCapitalizedString") { $0.capitalized }

    /// Swift's `lowercased()`, in SQL `swiftLowercaseString`. NULL if the argument is not a string.
    public static let lowercase = DatabaseFunction(transforming: "swiftLowercaseString") { $0.lowercased() }

    /// Swift's `uppercased()`, in SQL `swiftUppercaseString`. NULL if the argument is not a string.
    public static let uppercase = DatabaseFunction(transforming: "swiftUppercaseString") { $0.uppercased() }

    /// Foundation's `localizedCapitalized`, in SQL `swiftLocalizedCapitalizedString`. NULL if the argument is
    /// not a string.
    public static let localizedCapitalize = DatabaseFunction(transforming: "swiftLocalizedCapitalizedString")
    { $0.localizedCapitalized }

    /// Foundation's `localizedLowercase`, in SQL `swiftLocalizedLowercaseString`. NULL if the argument is not
    /// a string.
    public static let localizedLowercase = DatabaseFunction(transforming: "swiftLocalizedLowercaseString") {
        $0.localizedLowercase
    }

    /// Foundation's `localizedUppercase`, in SQL `swiftLocalizedUppercaseString`. NULL if the argument is not
    /// a string.
    public static let localizedUppercase = DatabaseFunction(transforming: "swiftLocalizedUppercaseString") {
        $0.localizedUppercase
    }

    /// The functions that are available on every connection.
    static let standardFunctions = [
        capitalize, lowercase, uppercase, localizedCapitalize, localizedLowercase, localizedUppercase,
    ]

    private convenience init(transforming name: String, _ transform: @escaping @Sendable (String) -> String) {
        self.init(name, argumentCount: 1, pure: true) { values in
            String.fromDatabaseValue(values[0]).map(transform)
        }
    }
}
