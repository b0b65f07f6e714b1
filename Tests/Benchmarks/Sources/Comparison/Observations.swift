import Foundation

extension Comparison {
    /// The values of observations. The writes are separated in time, so that no values are coalesced.
    static func observations(_ area: Area) {
        func observed<Reducer: ValueReducer>(
            _ name: String, _ observation: ValueObservation<Reducer>,
            writes: [@Sendable (Database) throws -> Void]
        ) where Reducer.Value: Sendable {
            area.sample(name) { writer in
                let lines = Lines(), arrived = DispatchSemaphore(value: 0),
                    queue = DispatchQueue(label: "observations")
                let marks = observation.handleEvents(didFail: {
                    lines.add("failed \(Text.text(of: $0))"); arrived.signal()
                })
                let cancellable = marks.start(in: writer, scheduling: .async(onQueue: queue)) { _ in
                } onChange: { value in
                    lines.add("value \(Text.text(of: value))")
                    arrived.signal()
                }
                // Waits for all current values: the first one within `seconds`, and others shortly after it.
                func arrive(within seconds: Double) {
                    guard arrived.wait(timeout: .now() + seconds) == .success else { return }
                    while arrived.wait(timeout: .now() + 0.15) == .success {}
                }
                arrive(within: 5)
                for (index, write) in writes.enumerated() {
                    lines.add("write \(index)")
                    try? writer.write(write)
                    // A relevant write is reported soon; an irrelevant one is never reported.
                    arrive(within: 0.6)
                }
                cancellable.cancel()
                queue.sync {}
                // A pool may report the first value twice.
                return lines.all.reduce(into: [String]()) { all, line in
                    if all.last != line || line.hasPrefix("write") { all.append(line) }
                }
            }
        }
        let insert: @Sendable (Database) throws -> Void = {
            try $0.execute(sql: "INSERT INTO owner (name) VALUES ('new')")
        }
        let rename: @Sendable (Database) throws -> Void = {
            try $0.execute(sql: "UPDATE owner SET name = 'x' WHERE id = 1")
        }
        let other: @Sendable (Database) throws -> Void = {
            try $0.execute(sql: "UPDATE vault SET title = title || '!' WHERE id = 1")
        }
        let same: @Sendable (Database) throws -> Void = {
            try $0.execute(sql: "UPDATE owner SET name = name")
        }
        let ddl: @Sendable (Database) throws -> Void = {
            try $0.execute(sql: "ALTER TABLE owner ADD COLUMN extra")
        }
        let rolledBack: @Sendable (Database) throws -> Void = { db in
            try db.execute(sql: "DELETE FROM transfer; INSERT INTO nowhere VALUES (1)")
        }
        let count: @Sendable (Database) throws -> Int = {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM owner")!
        }

        observed("count", ValueObservation.tracking(count), writes: [insert, insert])
        observed("count.other", ValueObservation.tracking(count), writes: [other, insert])
        observed("count.same", ValueObservation.tracking(count), writes: [same])
        observed(
            "distinct", ValueObservation.tracking(count).removeDuplicates(), writes: [same, insert, same])
        observed("constant", ValueObservation.trackingConstantRegion(count), writes: [insert, other])
        observed(
            "region", ValueObservation.tracking(region: Owner.all(), fetch: { try Vault.fetchCount($0) }),
            writes: [insert, other])
        observed(
            "region.key",
            ValueObservation.tracking(
                region: Owner.filter(key: 1), fetch: { try Owner.filter(key: 1).fetchOne($0)?.name }),
            writes: [insert, rename])
        observed(
            "column",
            ValueObservation.tracking { try String.fetchAll($0, sql: "SELECT email FROM owner ORDER BY id") },
            writes: [rename, insert])
        observed(
            "records", ValueObservation.tracking { try Vault.orderByPrimaryKey().fetchAll($0).map(\.title) },
            writes: [other, rename])
        observed(
            "one", ValueObservation.tracking { try Owner.fetchOne($0, key: 1) }, writes: [insert, rename])
        observed(
            "joined",
            ValueObservation.tracking {
                try Row.fetchAll($0, Vault.including(optional: Vault.owner).orderByPrimaryKey()).map(
                    \.debugDescription)
            }, writes: [rename, other])
        observed(
            "prefetched",
            ValueObservation.tracking {
                try Row.fetchAll($0, Owner.including(all: Owner.vaults).orderByPrimaryKey()).map {
                    $0.prefetchedRows["vaults"]!.map(\.description)
                }
            }, writes: [other])
        observed("map", ValueObservation.tracking(count).map { "n = \($0)" }, writes: [insert])
        observed("rolledBack", ValueObservation.tracking(count), writes: [rolledBack, insert])
        observed(
            "ddl",
            ValueObservation.tracking { try Row.fetchOne($0, sql: "SELECT * FROM owner")?.description },
            writes: [ddl, rename])
        observed(
            "delete",
            ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM transfer") },
            writes: [{ try $0.execute(sql: "DELETE FROM transfer") }])
        observed(
            "view", ValueObservation.tracking { try Table("pinned").fetchCount($0) },
            writes: [{ try $0.execute(sql: "UPDATE item SET isPinned = 1") }, other])
        observed(
            "several", ValueObservation.tracking { [try Owner.fetchCount($0), try Vault.fetchCount($0)] },
            writes: [insert, other])
        observed(
            "cascade", ValueObservation.tracking { try Item.fetchCount($0) },
            writes: [
                { try $0.execute(sql: "DELETE FROM vault WHERE id = 3; DELETE FROM share WHERE vaultId = 3") }
            ])
        observed(
            "fails", ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM nowhere") },
            writes: [insert])
        observed(
            "notified", ValueObservation.tracking(count),
            writes: [{ try $0.notifyChanges(in: Table("owner")) }])
        observed(
            "upsert",
            ValueObservation.tracking { try String.fetchAll($0, sql: "SELECT name FROM owner ORDER BY id") },
            writes: [
                {
                    var owner = Owner(id: nil, name: "U", email: "ann@example.com"); try owner.upsert($0)
                }
            ])
        observed("empty", ValueObservation.tracking { try Owner.none().fetchCount($0) }, writes: [insert])

        area.sample("regionObservation") { writer in
            let lines = Lines()
            let cancellable = DatabaseRegionObservation(tracking: Owner.all(), Table("transfer")).start(
                in: writer
            ) {
                lines.add(Text.lines(of: $0))
            } onChange: { db in
                lines.add("changed, \((try? Owner.fetchCount(db)) ?? -1) owners")
            }
            try writer.write(insert)
            try writer.write(other)
            try writer.write { try $0.execute(sql: "DELETE FROM transfer") }
            try? writer.write(rolledBack)
            cancellable.cancel()
            try writer.write(insert)
            return lines.all
        }
        area.sample("events") { writer in
            let lines = Lines(), arrived = DispatchSemaphore(value: 0),
                queue = DispatchQueue(label: "observations")
            let observation = ValueObservation.trackingConstantRegion(count).handleEvents(
                willStart: { lines.add("willStart") }, willTrackRegion: { lines.add("region \($0)") },
                databaseDidChange: { lines.add("didChange") },
                didReceiveValue: { lines.add("received \($0)") }, didCancel: { lines.add("didCancel") })
            let cancellable = observation.start(in: writer, scheduling: .async(onQueue: queue)) { _ in
            } onChange: { _ in
                arrived.signal()
            }
            _ = arrived.wait(timeout: .now() + 5)
            try writer.write(insert)
            _ = arrived.wait(timeout: .now() + 5)
            cancellable.cancel()
            return lines.all.filter {
                $0.hasPrefix("will") || $0.hasPrefix("region") || $0.hasPrefix("didCancel")
            }.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
        }
        area.call("regions") { db in
            let owner = try Owner.all().databaseRegion(db), one = try Owner.filter(key: 1).databaseRegion(db),
                vault = try Vault.all().databaseRegion(db)
            return [
                "\(owner.union(vault))", "\(one)", "\(one.union(owner))", "\(DatabaseRegion())",
                "\(DatabaseRegion.fullDatabase)",
                "\(one.isEmpty) \(DatabaseRegion().isEmpty) \(DatabaseRegion.fullDatabase.isFullDatabase)",
            ]
        }
        area.call("recorded") { db in
            var region = DatabaseRegion()
            for request in [
                Owner.filter(ids: [1, 2]), Owner.filter(id: 3), Owner.filter(Column("name") == "Ann"),
            ] {
                region.formUnion(try request.databaseRegion(db))
            }
            return "\(region)"
        }
    }
}
