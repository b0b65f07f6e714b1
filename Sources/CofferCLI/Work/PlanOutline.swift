internal import Coffer

/// The part that the plans of all file operations have in common, for reports.
protocol PlanOutline {
    var requiredSpace: Int64 { get }
    var availableSpace: Int64 { get }
    var steps: [String] { get }
    var leftovers: [String] { get }
}

extension DatabaseFile.RotationPlan: PlanOutline {}
extension DatabaseFile.ConversionPlan: PlanOutline {}

extension PlanOutline {
    /// The last members of a JSON result.
    var outlineFacts: JSONObject {
        [
            "required_space": requiredSpace, "available_space": availableSpace, "steps": steps,
            "leftovers": leftovers, "code": 0,
        ]
    }

    /// The required and available space, as part of a sentence.
    var room: String { "needs \(TextLayout.size(requiredSpace)) of \(TextLayout.size(availableSpace)) free" }

    var lines: [String] {
        steps.enumerated().map { "  \($0 + 1). \($1)" }
            + leftovers.map { "  removes a leftover of an interrupted run: \($0)" }
    }
}
