internal import Coffer

/// What plans of all operations on files have in common, as it is reported.
protocol PlanOutline {
    var requiredSpace: Int64 { get }
    var availableSpace: Int64 { get }
    var steps: [String] { get }
    var leftovers: [String] { get }
}

extension DatabaseFile.RotationPlan: PlanOutline {}
extension DatabaseFile.ConversionPlan: PlanOutline {}

extension PlanOutline {
    /// The last members of a result in JSON.
    var outlineFacts: [JSONValue.Member] {
        [
            .init("required_space", .int(requiredSpace)), .init("available_space", .int(availableSpace)),
            .init("steps", .strings(steps)),
            .init("leftovers", .strings(leftovers)), .init("code", 0),
        ]
    }

    /// In words, as a part of a sentence.
    var room: String { "needs \(TextLayout.size(requiredSpace)) of \(TextLayout.size(availableSpace)) free" }

    var lines: [String] {
        steps.enumerated().map { "  \($0 + 1). \($1)" }
            + leftovers.map { "  removes what an interrupted run has left: \($0)" }
    }
}
