/// What plans of all works have in common, as it is told.
struct PlanOutline {
    let requiredSpace: Int64
    let availableSpace: Int64
    let steps: [String]
    let leftovers: [String]

    /// The last members of a result in JSON.
    var facts: [JSONValue.Member] {
        [
            .init("required_space", .int(requiredSpace)), .init("available_space", .int(availableSpace)), .init("steps", .strings(steps)),
            .init("leftovers", .strings(leftovers)), .init("code", 0),
        ]
    }

    /// In words, as a part of a sentence.
    var room: String { "needs \(TextLayout.size(requiredSpace)) of \(TextLayout.size(availableSpace)) free" }

    var lines: [String] {
        steps.enumerated().map { "  \($0 + 1). \($1)" } + leftovers.map { "  removes what an interrupted run has left: \($0)" }
    }
}
