/// One line of the input: what to do next.
struct Step: Decodable {
    enum Kind: String, Decodable {
        /// Opens the database at `path`.
        case open
        /// Closes it.
        case close
        /// Runs `body` in one transaction.
        case write
        /// Runs `body` outside a transaction: its statements may begin and end some.
        case raw
        /// Runs `sql` on a connection that reads.
        case read
        /// Counts the rows of the table or view `name` by a request.
        case count
        /// Runs a checkpoint of the kind `name`.
        case checkpoint
        /// Reads all tables of the open database, or of the one at `path`, which is opened for it.
        case content
    }

    /// How a transaction or a savepoint ends.
    enum End: String, Decodable {
        case commit, rollback
        /// By an error that the program throws, and catches outside.
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

    /// How a database is opened.
    struct Options: Decodable {
        var isQueue: Bool
        var pageSize: Int
        var pageCacheSize: Int
        /// Whether the file next to `path` whose name ends with `-other` is attached as `other`.
        var isAttaching: Bool
        /// Statements that prepare each connection.
        var preparations: [String]
    }
}
