internal import Coffer

/// The rows of EXPLAIN QUERY PLAN as a tree.
struct PlanTree {
    private struct Step {
        let id: Int64
        let words: String
    }

    static let columns = ["id", "parent", "notused", "detail"]

    /// The steps below each step, in the order of the plan; 0 is the root.
    private var steps: [Int64: [Step]] = [:]

    mutating func add(_ values: [DatabaseValue]) {
        guard values.count == PlanTree.columns.count, let id = Int64.fromDatabaseValue(values[0]),
            let parent = Int64.fromDatabaseValue(values[1])
        else { return }
        steps[parent, default: []].append(Step(id: id, words: RowText.plain(values[3])))
    }

    var lines: [String] { ["QUERY PLAN"] + lines(below: 0, "", depth: 0) }

    private func lines(below parent: Int64, _ indent: String, depth: Int) -> [String] {
        // SQLite limits the depth of plans. The check makes sure that steps in a circle end too.
        guard depth < 1000, let children = steps[parent] else { return [] }
        return children.enumerated().flatMap { index, step in
            let isLast = index == children.count - 1
            return ["\(indent)\(isLast ? "`--" : "|--")\(harmless: step.words)"]
                + lines(below: step.id, indent + (isLast ? "   " : "|  "), depth: depth + 1)
        }
    }
}
