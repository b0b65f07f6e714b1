/// A line of input: the next step.
struct Step: Decodable {
    enum Kind: String, Decodable {
        /// Opens the database at `path`.
        case open
        /// Closes it.
        case close
        /// Runs `body` in one transaction.
        case write
        /// Runs `body` outside a transaction. Its statements may begin and end transactions.
        case raw
        /// Runs `sql` on a reader.
        case read
        /// Counts the rows of the table or view `name` with a request.
        case count
        /// Runs a checkpoint of the kind `name`.
        case checkpoint
        /// Reads all tables of the open database, or of the database at `path`, which is opened for this.
        case content
    }

    /// The end of a transaction or a savepoint.
    enum End: String, Decodable {
        case commit, rollback
        /// With an error that the program throws and catches outside.
        case error
    }

    /// A statement of a body, or a savepoint in it.
    struct Item: Decodable {
        var sql: String?
        var savepoint: [Item]?
        var end: End?
    }

    var kind: Kind
    var path: String?
    var name: String?
    var sql: String?
    var body: [Item]?
    var end: End?
    var options: Options?

    /// The options for opening a database.
    struct Options: Decodable {
        var isQueue: Bool
        var pageSize: Int
        var pageCacheSize: Int
        /// True to attach the file next to `path` with the suffix `-other` as `other`.
        var isAttaching: Bool
        /// Statements that prepare each connection.
        var preparations: [String]
    }
}
