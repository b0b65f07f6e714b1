#if GRDB
import GRDB
#else
import Coffer
#endif

/// A group of contacts, with an ID assigned by the database.
struct Circle: Codable, Identifiable, Hashable {
    var id: Int64?
    var title: String
    var color: String?
}

extension Circle: FetchableRecord, MutablePersistableRecord {
    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}
