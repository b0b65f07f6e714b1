extension DatabaseFile {
    /// How many backups are kept, and from when.
    ///
    /// Of each of the last hours, days, weeks, months and years that have backups, the newest one is kept:
    /// `7d,4w,6m` keeps those of seven days, four weeks and six months, of which some are the same. Hours
    /// without a backup do not count, so that a database that nobody backs up any more keeps those that it
    /// has. Times are in UTC, and weeks begin on Mondays.
    ///
    /// ```swift
    /// let retention = DatabaseFile.BackupRetention("7d,4w,6m")
    /// ```
    public struct BackupRetention: Sendable, Hashable {
        /// How many of the last hours with a backup keep their last one.
        public var hours = 0
        /// How many of the last days with a backup keep their last one.
        public var days = 0
        /// How many of the last weeks with a backup keep their last one.
        public var weeks = 0
        /// How many of the last months with a backup keep their last one.
        public var months = 0
        /// How many of the last years with a backup keep their last one.
        public var years = 0

        /// Says how many backups are kept. Zero keeps none for the reason of that unit.
        public init(hours: Int = 0, days: Int = 0, weeks: Int = 0, months: Int = 0, years: Int = 0) {
            (self.hours, self.days, self.weeks, self.months, self.years) = (hours, days, weeks, months, years)
        }

        /// Reads numbers with a unit each, between commas: `h`, `d`, `w`, `m` (months) and `y`.
        ///
        /// - Returns: nil for every other text, and for one with a unit twice or a number that is not from 1
        ///   to 9999.
        public init?(_ text: String) {
            var found: [Character: Int] = [:]
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let unit = part.last, "hdwmy".contains(unit), found[unit] == nil,
                    let number = Int(part.dropLast()),
                    (1...9999).contains(number), part.first?.isNumber == true
                else { return nil }
                found[unit] = number
            }
            self.init(
                hours: found["h"] ?? 0, days: found["d"] ?? 0, weeks: found["w"] ?? 0,
                months: found["m"] ?? 0, years: found["y"] ?? 0)
        }

        /// Which of several times are kept: always the newest one.
        func kept(_ times: [BackupTime]) -> Set<BackupTime> {
            let newestFirst = times.sorted(by: >)
            var kept = Set(newestFirst.prefix(1))
            let rules: [(count: Int, period: (BackupTime) -> Int64)] = [
                (hours, \.hour), (days, \.day), (weeks, \.week), (months, \.month), (years, \.year),
            ]
            for rule in rules {
                var periods: Set<Int64> = []
                for time in newestFirst where periods.count < rule.count {
                    if periods.insert(rule.period(time)).inserted { kept.insert(time) }
                }
            }
            return kept
        }
    }
}
