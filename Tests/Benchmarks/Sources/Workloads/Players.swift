import BenchKit

/// The row that is written and read: six columns of four types, one of them sometimes NULL.
struct Player {
    var id: Int64
    var name: String
    var team: String?
    var score: Int
    var rating: Double
    var bonus: Int

    /// Creates the player of a key, identical in every runner.
    init(number id: Int64) {
        self.id = id
        name = Equal.name(id)
        team = Equal.team(id)
        score = Int(Equal.score(id))
        rating = Equal.rating(id)
        bonus = Int(Equal.bonus(id))
    }

    var check: Int64 {
        BenchKit.check(id, name.utf8.count, team?.utf8.count ?? 0, Int64(score), rating, Int64(bonus))
    }
}

/// The same row, with synthesized `Codable` conformance.
struct CodablePlayer: Codable {
    var id: Int64
    var name: String
    var team: String?
    var score: Int
    var rating: Double
    var bonus: Int

    init(number id: Int64) {
        self.id = id
        name = Equal.name(id)
        team = Equal.team(id)
        score = Int(Equal.score(id))
        rating = Equal.rating(id)
        bonus = Int(Equal.bonus(id))
    }

    var check: Int64 {
        BenchKit.check(id, name.utf8.count, team?.utf8.count ?? 0, Int64(score), rating, Int64(bonus))
    }
}
