/// What is behind an ``Association``: the tables on the way from its origin to its destination. It has
/// nothing for applications; requirements of protocols mention it.
public struct _SQLAssociation: Sendable {
    /// The steps on the way, of which the last one leads to the destination. There is at least one.
    private(set) var steps: [Step]

    struct Step: Sendable {
        var key: AssociationKey
        let condition: JoinCondition
        var relation: Relation

        /// Whether there is one row for each row of the table before, as far as the association says.
        let isToOne: Bool
    }

    init(_ step: Step) { steps = [step] }

    private init(_ steps: [Step]) { self.steps = steps }

    /// The way over `pivot` to the destination of `target`, whose origin is the destination of `pivot`.
    init(through pivot: _SQLAssociation, using target: _SQLAssociation) {
        self.init(pivot.steps + target.steps)
    }

    /// The last step.
    var destination: Step {
        get { steps[steps.count - 1] }
        set { steps[steps.count - 1] = newValue }
    }

    /// The association with another key.
    func withKey(_ key: AssociationKey) -> _SQLAssociation {
        var result = self
        result.destination.key = key
        return result
    }

    /// The association with a change of its destination.
    func with(_ change: (inout Relation) -> Void) -> _SQLAssociation {
        var result = self
        change(&result.destination.relation)
        return result
    }
}
