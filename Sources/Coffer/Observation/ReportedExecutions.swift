/// The statement whose changes are reported, and the statements whose functions or observers have executed
/// it, directly or not.
///
/// No statement is kept alive: a connection cannot be closed with it.
struct ReportedExecutions<Listening> {
    private weak var current: Statement?

    /// The statements that are reported again later, from the outside in.
    private var outer: [Outer] = []

    private struct Outer {
        weak var statement: Statement?
        let listening: Listening

        var isRunning: Bool { statement.map { unsafe $0.isStepping } ?? false }
    }

    /// Begins to report the changes of a statement.
    ///
    /// - Parameter listening: the state of listening so far. It is kept if the statement whose changes were
    ///   reported still runs.
    mutating func begin(_ statement: Statement, after listening: @autoclosure () -> Listening) {
        if !outer.isEmpty { outer.removeAll { !$0.isRunning } }
        if let current, current !== statement, unsafe current.isStepping {
            outer.append(Outer(statement: current, listening: listening()))
        }
        current = statement
    }

    /// Notes that a statement has ended.
    ///
    /// - Returns: the state of listening to the statement whose changes are reported again from now on; nil
    ///   if there is none.
    mutating func end(_ statement: Statement) -> Listening? {
        if current === statement { current = nil }
        guard !outer.isEmpty, current.map({ unsafe !$0.isStepping }) ?? true else { return nil }
        outer.removeAll { !$0.isRunning }
        guard let last = outer.popLast() else { return nil }
        current = last.statement
        return last.listening
    }

    /// Returns true if the changes of another statement are reported, which still runs.
    func reportsOther(than statement: Statement) -> Bool {
        guard let current, current !== statement else { return false }
        return unsafe current.isStepping
    }

    /// True if a statement runs whose function or observer has executed the one that has just ended. No
    /// transaction can end then.
    var isInsideOther: Bool {
        if let current, unsafe current.isStepping { return true }
        return outer.contains(where: \.isRunning)
    }

    /// True if a statement may be reported again later.
    var hasOuter: Bool { !outer.isEmpty }

    mutating func removeAll() { (current, outer) = (nil, []) }
}
