internal import ArgumentParser

/// The number of threads that process the pages of one file.
struct ThreadCount: ExpressibleByArgument, Sendable {
    let number: Int

    /// The default of the library.
    static let usual = ThreadCount(number: 2)

    init?(argument: String) {
        guard let number = Int(argument), (1...64).contains(number) else { return nil }
        self.init(number: number)
    }

    private init(number: Int) { self.number = number }

    var defaultValueDescription: String { "\(number)" }
}
