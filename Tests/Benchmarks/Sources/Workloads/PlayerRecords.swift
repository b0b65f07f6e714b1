import BenchKit
#if GRDB
import GRDB
#else
import Coffer
#endif

/// A record that reads and writes its columns without `Codable`.
extension Player: FetchableRecord, PersistableRecord, Identifiable {
    static let databaseTableName = "player"

    init(row: Row) {
        id = row["id"]
        name = row["name"]
        team = row["team"]
        score = row["score"]
        rating = row["rating"]
        bonus = row["bonus"]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["team"] = team
        container["score"] = score
        container["rating"] = rating
        container["bonus"] = bonus
    }
}

extension CodablePlayer: FetchableRecord, PersistableRecord, Identifiable {
    static let databaseTableName = "player"
}
