import Foundation
#if GRDB
import GRDB
#else
import Coffer
#endif

/// The operations of an application on its address book. Each result is a line of its report.
struct AddressBook {
    let writer: any DatabaseWriter
    let report: (String) -> Void

    func run() throws {
        try migrate()
        try fill()
        try read()
        try request()
        try change()
        try fail()
        try inspect()
    }

    private func say(_ title: String, _ values: Any?...) {
        report("\(title): " + values.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: ", "))
    }

    // MARK: - Migrations

    private func migrate() throws {
        let migrator = AddressBookMigrations.migrator
        try migrator.migrate(writer, upTo: "v2")
        try writer.read { db in
            say("applied", try migrator.appliedMigrations(db), try migrator.hasCompletedMigrations(db))
        }
        // A contact of the second version, which later migrations have to keep.
        try writer.write { db in
            try db.execute(
                literal: """
                    INSERT INTO contact (id, name, createdAt) VALUES \
                    (\(Sample.id(9)), \("Old Contact"), \("2020-02-29 12:00:00.000"));
                    INSERT INTO phone VALUES (\("9"), \("+1 555 09"))
                    """)
        }
        try migrator.migrate(writer)
        try writer.read { db in
            say("applied", try migrator.appliedMigrations(db), try migrator.hasCompletedMigrations(db))
            say("changes", try migrator.hasSchemaChanges(db), try migrator.hasBeenSuperseded(db))
            say("old contact", Sample.text(try Contact.fetchOne(db, id: Sample.id(9))))
            say("old phone", try Row.fetchOne(db, sql: "SELECT * FROM phone"))
        }
        try writer.write { db in
            say("deleted", try Contact.deleteOne(db, id: Sample.id(9)), try PhoneNumber.deleteAll(db))
        }
    }

    // MARK: - Writing

    private func fill() throws {
        try writer.write { db in
            var family = Circle(id: nil, title: "Family", color: "red")
            try family.insert(db)
            var work = Circle(id: nil, title: "Work")
            try work.insert(db)
            say("circles", family, work)

            for contact in Sample.contacts(family: family.id, work: work.id) { try contact.insert(db) }
            for phone in Sample.phones { try phone.insert(db) }
            say(
                "counts", try Contact.fetchCount(db), try PhoneNumber.fetchCount(db),
                try Circle.fetchCount(db))
        }
    }

    // MARK: - Reading

    private func read() throws {
        try writer.read { db in
            for contact in try Contact.orderByPrimaryKey().fetchAll(db) {
                say("contact", Sample.text(contact))
            }
            for phone in try PhoneNumber.orderByPrimaryKey().fetchAll(db) {
                say("phone", phone.label, phone.number, phone.verifiedAt?.timeIntervalSince1970)
            }
            say(
                "one", try Contact.fetchOne(db, id: Sample.id(2))?.name,
                try Contact.fetchOne(db, id: Sample.id(77))?.name)
            say("some", try Contact.fetchAll(db, ids: [Sample.id(1), Sample.id(3)]).map(\.name).sorted())
            say(
                "key",
                try PhoneNumber.fetchOne(db, key: ["contactId": Sample.id(1).uuidString, "label": "home"])?
                    .number)
            say("unique", try Circle.fetchOne(db, key: ["title": "Work"])?.id)
            say("exists", try Contact.exists(db, id: Sample.id(1)), try Contact.exists(db, id: Sample.id(77)))
            say("find", try Contact.find(db, id: Sample.id(4)).name)
            let contacts =
                "SELECT quote(id), quote(birthday), quote(createdAt), tags, address FROM contact ORDER BY id"
            for row in try Row.fetchAll(db, sql: contacts) { say("stored", row) }
            let phones = "SELECT *, typeof(verified_at) FROM phone ORDER BY contactId, label"
            for row in try Row.fetchAll(db, sql: phones) { say("stored", row) }
            let names = try Contact.order(Contact.Columns.name).select(Contact.Columns.name, as: String.self)
                .fetchAll(db)
            say("names", names)
            let cursor = try Contact.all().orderedByName().fetchCursor(db)
            var favorites = 0
            while let contact = try cursor.next() { favorites += contact.isFavorite ? 1 : 0 }
            say("favorites", favorites)
        }
    }

    // MARK: - Requests

    private func request() throws {
        try writer.read { db in
            let name = Contact.Columns.name
            let score = Contact.Columns.score
            func names(_ title: String, _ request: QueryInterfaceRequest<Contact>) throws {
                say(title, try request.orderedByName().fetchAll(db).map(\.name), try request.fetchCount(db))
            }
            try names("favorites", Contact.all().favorites())
            try names("family", Contact.filter(Contact.Columns.kind == Contact.Kind.family))
            try names("no birthday", Contact.filter(Contact.Columns.birthday == nil))
            try names("born", Contact.filter(Contact.Columns.birthday < Sample.date(86_400 * 365 * 20)))
            try names("like", Contact.filter(name.like("%a%")))
            try names("between", Contact.filter((0.5...2.5).contains(score)))
            try names("in", Contact.filter([1.5, 3.5].contains(score)))
            try names("arithmetic", Contact.filter(score * 2 + 1 > 5 && !(name == "Zoe") || score < 0))
            try names("case", Contact.filter(name.collating(.nocase) == "ALICE"))
            try names("length", Contact.filter(length(name) > 4))
            try names("subquery", Contact.filter(score == Contact.select(max(score))))
            try names("none", Contact.none())
            try names("sql", Contact.filter(sql: "name > ?", arguments: ["C"]))
            try names("literal", Contact.filter(literal: "name < \("C") AND \(score) > \(0)"))

            say("top", try Contact.order(score.desc).limit(2, offset: 1).fetchAll(db).map(\.name))
            say("reversed", try Contact.order(score).reversed().fetchOne(db)?.name)
            say(
                "distinct",
                try Contact.select(Contact.Columns.kind, as: String.self).distinct().order(
                    Contact.Columns.kind
                ).fetchAll(db))
            say("sum", try Contact.select(sum(score), as: Double.self).fetchOne(db))
            let groups =
                Contact
                .select(
                    Contact.Columns.kind, count(Contact.Columns.id).forKey("count"),
                    average(score).forKey("average")
                )
                .group(Contact.Columns.kind)
                .having(count(Contact.Columns.id) > 1)
                .order(Contact.Columns.kind)
                .asRequest(of: Row.self)
            for row in try groups.fetchAll(db) { say("group", row) }
            let annotated = Contact.annotated(with: (score + 1).forKey("more")).order(name).asRequest(
                of: Row.self)
            say("annotated", try annotated.fetchAll(db).map { $0["more"] as Double })
            say("empty", try Contact.filter(name == "").isEmpty(db), try Contact.all().isEmpty(db))
            let city: SQLRequest<String> =
                "SELECT json_extract(address, '$.city') FROM contact WHERE name = \("Alice")"
            say("json", try city.fetchOne(db))
            let best = CommonTableExpression(named: "best", request: Contact.filter(score > 1))
            say("cte", try best.all().with(best).fetchCount(db))
            say("view", try Row.fetchAll(db, sql: "SELECT name FROM favorite ORDER BY name"))
            say("table", try Table("circle").order(Column("title")).fetchAll(db))
        }
    }

    // MARK: - Changes

    private func change() throws {
        try writer.write { db in
            var alice = try Contact.find(db, id: Sample.id(1))
            say("unchanged", try alice.updateChanges(db) { $0.name = "Alice" })
            say(
                "changed",
                try alice.updateChanges(db) {
                    $0.tags.append("new"); $0.address?.postalCode = nil
                })
            let before = alice
            alice.score = 9.25
            alice.photo = Data([0, 255])
            say("changes", try alice.databaseChanges(from: before).keys.sorted())
            try alice.update(db)
            alice.name = "not written"
            try alice.update(db, columns: [Contact.Columns.score])
            say("alice", Sample.text(try Contact.find(db, id: alice.id)))

            var circle = Circle(id: nil, title: "Friends")
            try circle.save(db)
            circle.title = "Best friends"
            try circle.save(db)
            say("circle", try Circle.fetchOne(db, id: circle.id))
            say("deleted", try circle.delete(db), try circle.delete(db))

            var phone = Sample.phones[0]
            phone.number = "+49 30 999"
            try phone.save(db)
            say(
                "saved", try PhoneNumber.fetchCount(db),
                try PhoneNumber.filter(Column("label") == "home").fetchOne(db)?.number)
            var work = Circle(id: nil, title: "Work", color: "blue")
            try work.upsert(db)
            say("upserted", try Circle.fetchCount(db), work)

            say(
                "updated",
                try Contact.all().favorites().updateAll(
                    db, Contact.Columns.score += 1, Contact.Columns.circleId.set(to: nil)))
            say(
                "scores",
                try Contact.order(Contact.Columns.id).select(Contact.Columns.score, as: Double.self).fetchAll(
                    db))
            say("deleted", try Contact.filter(Contact.Columns.score > 10).deleteAll(db))
            let circles = try Circle.order(Column("id")).fetchAll(db)
            say(
                "cascade", try circles[0].delete(db),
                try Contact.filter(Contact.Columns.circleId != nil).fetchCount(db))
        }
    }

    // MARK: - Failures

    private func fail() throws {
        try writer.write { db in
            func code(_ body: () throws -> Void) throws -> String {
                do {
                    try body()
                    return "none"
                } catch let error as DatabaseError {
                    return "\(error.extendedResultCode.rawValue)"
                } catch let error as RecordError {
                    switch error {
                    case .recordNotFound(let table, let key): return "no \(table) \(key.keys.sorted())"
                    }
                }
            }
            let contact = try Contact.find(db, id: Sample.id(2))
            say("twice", try code { try contact.insert(db) })
            say("kind", try code { try db.execute(sql: "UPDATE contact SET kind = 'enemy'") })
            say(
                "short", try code { try PhoneNumber(contact: contact.id, label: "x", number: "1").insert(db) }
            )
            say("missing", try code { _ = try Contact.find(db, id: Sample.id(77)) })
            var stranger = contact
            stranger.id = Sample.id(77)
            say("update", try code { try stranger.update(db) })
            stranger.circleId = 99
            let insertion = stranger
            say("foreign key", try code { try insertion.insert(db) })
        }
        // The transaction is all or nothing.
        struct Abort: Error {}
        do {
            try writer.write { db in
                try Contact.deleteAll(db)
                throw Abort()
            }
        } catch is Abort {}
        say("kept", try writer.read { try Contact.fetchCount($0) })
    }

    // MARK: - Schema

    private func inspect() throws {
        try writer.read { db in
            for table in ["circle", "contact", "phone"] {
                say(
                    table,
                    try db.columns(in: table).map {
                        "\($0.name) \($0.type) \($0.isNotNull) \($0.defaultValueSQL ?? "-")"
                    })
                say(table, try db.primaryKey(table).columns, try db.primaryKey(table).rowIDColumn)
                say(
                    table,
                    try db.indexes(on: table).map { "\($0.name) \($0.columns) \($0.isUnique)" }.sorted())
                say(table, try db.foreignKeys(on: table).map { "\($0.destinationTable) \($0.mapping)" })
            }
            let sql = try String.fetchAll(
                db,
                sql:
                    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' ORDER "
                    + "BY name"
            )
            // The libraries differ in whether they quote collation names.
            for sql in sql { say("sql", sql.replacingOccurrences(of: "\"NOCASE\"", with: "NOCASE")) }
            say("violations", try db.foreignKeyViolations().next() == nil)
        }
    }
}
