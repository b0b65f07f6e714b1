#if Services
internal import Metrics

/// Makes metrics with common dimensions.
struct Instruments {
    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]

    init(_ database: String, _ factory: any MetricsFactory) {
        self.init(dimensions: [("database", database)], factory)
    }

    private init(dimensions: [(String, String)], _ factory: any MetricsFactory) {
        self.dimensions = dimensions
        self.factory = factory
    }

    func adding(_ dimension: String, _ value: String) -> Instruments {
        Instruments(dimensions: dimensions + [(dimension, value)], factory)
    }

    func gauge(_ label: String) -> Gauge { Gauge(label: label, dimensions: dimensions, factory: factory) }

    func counter(_ label: String) -> Counter {
        Counter(label: label, dimensions: dimensions, factory: factory)
    }

    func timer(_ label: String) -> Timer { Timer(label: label, dimensions: dimensions, factory: factory) }

    func count(_ label: String) -> GrowingCount { GrowingCount(counter: counter(label)) }
}

/// Gauges of numbers that are read from the same statistics.
struct GaugeTable<Statistics> {
    private let rows: [(gauge: Gauge, number: (Statistics) -> Int)]

    init(_ instruments: Instruments, _ rows: [(label: String, number: (Statistics) -> Int)]) {
        self.rows = rows.map { (instruments.gauge($0.label), $0.number) }
    }

    func record(_ statistics: Statistics) {
        for row in rows { row.gauge.record(row.number(statistics)) }
    }
}

/// A counter that follows a number which grows.
struct GrowingCount {
    let counter: Counter
    private var previous = 0

    init(counter: Counter) { self.counter = counter }

    /// Adds the growth since the last call. A number that has decreased has started again from zero.
    mutating func record(_ number: Int) {
        let growth = number < previous ? number : number - previous
        if growth > 0 { counter.increment(by: growth) }
        previous = number
    }
}
#endif
