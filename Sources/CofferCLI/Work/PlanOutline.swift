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
    var room: String { "needs \(size: requiredSpace) of \(size: availableSpace) free" }

    var lines: [String] {
        steps.enumerated().map { "  \($0 + 1). \($1)" }
            + leftovers.map { "  removes a leftover of an interrupted run: \($0)" }
    }
}

/// The part that the results of all file operations have in common, for reports.
protocol FileResult: AuditedResult {
    var isResumed: Bool { get }
    /// In seconds.
    var duration: Double { get }
}

extension FileResult {
    /// A clause of a sentence about the result, if it completes an earlier run.
    var resumption: String { isResumed ? ", after an interrupted run" : "" }
    var time: String { TextLayout.seconds(.milliseconds(Int64(duration * 1000))) }
    var keptFacts: JSONObject { keptOldPath.map { ["kept_old": $0] } ?? [:] }
}
