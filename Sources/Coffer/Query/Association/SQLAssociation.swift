/// The implementation of an ``Association``: the tables on the way from its origin to its destination.
/// Applications do not use it; it is public because protocol requirements mention it.
public struct _SQLAssociation: Sendable {
    /// The steps on the way to the destination, at least one. The last step leads to the destination.
    private(set) var steps: [Step]

    struct Step: Sendable {
        var key: AssociationKey
        let condition: JoinCondition
        var relation: Relation

        /// True if the association is declared to have at most one row for each row of the previous table.
        let isToOne: Bool
    }

    init(_ step: Step) { steps = [step] }

    private init(_ steps: [Step]) { self.steps = steps }

    /// Creates an association through `pivot` to the destination of `target`, whose origin is the destination
    /// of `pivot`.
    init(through pivot: _SQLAssociation, using target: _SQLAssociation) {
        self.init(pivot.steps + target.steps)
    }

    /// The last step.
    var destination: Step {
        get { steps[steps.count - 1] }
        set { steps[steps.count - 1] = newValue }
    }

    /// Returns the association with another key.
    func withKey(_ key: AssociationKey) -> _SQLAssociation {
        var result = self
        result.destination.key = key
        return result
    }

    /// Returns the association with a change of its destination.
    func with(_ change: (inout Relation) -> Void) -> _SQLAssociation {
        var result = self
        change(&result.destination.relation)
        return result
    }
}
