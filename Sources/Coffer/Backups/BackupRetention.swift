package import Foundation

extension DatabaseFile {
    /// A rule that determines which backups are kept.
    ///
    /// For each of the last hours, days, weeks, months, and years that have backups, the newest one is kept:
    /// `7d,4w,6m` keeps the backups of seven days, four weeks, and six months, some of which are the same.
    /// Periods without a backup do not count, so a database that is no longer backed up keeps its backups.
    /// Times are in UTC, and weeks begin on Mondays.
    ///
    /// If more than two years lie between two backups, the rule applies to the backups before and after that
    /// gap separately: a clock may have been wrong, and must not cost the backups of another time.
    ///
    /// ```swift
    /// let retention = DatabaseFile.BackupRetention("7d,4w,6m")
    /// ```
    public struct BackupRetention: Sendable, Hashable {
        /// The number of most recent hours with a backup whose newest one is kept.
        public var hours = 0
        /// The number of most recent days with a backup whose newest one is kept.
        public var days = 0
        /// The number of most recent weeks with a backup whose newest one is kept.
        public var weeks = 0
        /// The number of most recent months with a backup whose newest one is kept.
        public var months = 0
        /// The number of most recent years with a backup whose newest one is kept.
        public var years = 0

        /// Creates a rule. With zero, no backup is kept because of that unit.
        public init(hours: Int = 0, days: Int = 0, weeks: Int = 0, months: Int = 0, years: Int = 0) {
            (self.hours, self.days, self.weeks, self.months, self.years) = (hours, days, weeks, months, years)
        }

        /// Parses numbers with a unit each, separated by commas: `h`, `d`, `w`, `m` (months), and `y`.
        ///
        /// - Returns: nil for any other text, including one that repeats a unit or has a number outside 1 to
        ///   9999.
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

        /// Returns true if the rule applies separately to the backups before and after two consecutive ones.
        ///
        /// The longest gap that the rule itself leaves is between the only backup of a year, on its first
        /// day, and the one of the next year, on its last day.
        package static func isGap(from older: Date, to newer: Date) -> Bool {
            newer.timeIntervalSince(older) > 2 * 366 * 86400
        }

        /// Returns the times that are kept, always including the newest one before each gap.
        func kept(_ times: [BackupTime]) -> Set<BackupTime> {
            var series: [[BackupTime]] = []
            for time in times.sorted(by: >) {
                if let newer = series.last?.last, !BackupRetention.isGap(from: time.date, to: newer.date) {
                    series[series.count - 1].append(time)
                } else {
                    series.append([time])
                }
            }
            return Set(series.flatMap(keptOfSeries))
        }

        private func keptOfSeries(_ newestFirst: [BackupTime]) -> Set<BackupTime> {
            var kept = Set(newestFirst.prefix(1))
            let rules: [(count: Int, period: (BackupTime) -> Int)] = [
                (hours, \.hour), (days, \.day), (weeks, \.week), (months, \.month), (years, \.year),
            ]
            for rule in rules {
                var periods: Set<Int> = []
                for time in newestFirst where periods.count < rule.count {
                    if periods.insert(rule.period(time)).inserted { kept.insert(time) }
                }
            }
            return kept
        }
    }
}
