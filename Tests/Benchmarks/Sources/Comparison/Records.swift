import Foundation

struct Owner: Codable, Hashable, Identifiable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var name: String
    var email: String?
    var born: Int?
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let email = Column(CodingKeys.email)
        static let born = Column(CodingKeys.born)
    }
    static let vaults = hasMany(Vault.self)
    static let items = hasMany(Item.self, through: vaults, using: Vault.items)
    static let profile = hasOne(Profile.self)
    static let shares = hasMany(Share.self)
    static let sharedVaults = hasMany(Vault.self, through: shares, using: Share.vault, key: "sharedVaults")
}

struct Vault: Codable, Hashable, Identifiable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var ownerId: Int64?
    var title: String
    var color: String?
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let ownerId = Column(CodingKeys.ownerId)
        static let title = Column(CodingKeys.title)
        static let color = Column(CodingKeys.color)
    }
    static let owner = belongsTo(Owner.self)
    static let items = hasMany(Item.self)
    static let attachments = hasMany(Attachment.self, through: items, using: Item.attachments)
    static let shares = hasMany(Share.self)
    static let guests = hasMany(Owner.self, through: shares, using: Share.owner, key: "guests")
    static let profile = hasOne(Profile.self, through: owner, using: Owner.profile)
}

struct Item: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    enum Kind: String, Codable, DatabaseValueConvertible { case login, note, card }
    var id: Int64
    var vaultId: Int64
    var title: String
    var kind: Kind
    var size: Int?
    var weight: Double?
    var isPinned: Bool
    var changedAt: Date?

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let vaultId = Column(CodingKeys.vaultId)
        static let title = Column(CodingKeys.title)
        static let kind = Column(CodingKeys.kind)
        static let size = Column(CodingKeys.size)
        static let weight = Column(CodingKeys.weight)
        static let isPinned = Column(CodingKeys.isPinned)
        static let changedAt = Column(CodingKeys.changedAt)
    }
    static let vault = belongsTo(Vault.self)
    static let owner = hasOne(Owner.self, through: vault, using: Vault.owner)
    static let attachments = hasMany(Attachment.self)
}

struct Attachment: Codable, Hashable, FetchableRecord, PersistableRecord {
    var id: Int64
    var itemId: Int64
    var name: String
    var bytes: Data?
    static let item = belongsTo(Item.self)
    static let vault = hasOne(Vault.self, through: item, using: Item.vault)
}

struct Profile: Codable, Hashable, FetchableRecord, PersistableRecord {
    var ownerId: Int64
    var motto: String
    static let owner = belongsTo(Owner.self)
}

struct Share: Codable, Hashable, FetchableRecord, PersistableRecord {
    var vaultId: Int64
    var ownerId: Int64
    var role: String
    static let vault = belongsTo(Vault.self)
    static let owner = belongsTo(Owner.self)
}

struct Folder: Codable, Hashable, FetchableRecord, PersistableRecord {
    var id: Int64
    var parentId: Int64?
    var name: String
    static let parent = belongsTo(Folder.self, key: "parent")
    static let children = hasMany(Folder.self, key: "children")
}

/// Two foreign keys to one table.
struct Transfer: Codable, Hashable, FetchableRecord, PersistableRecord {
    var id: Int64
    var senderId: Int64
    var receiverId: Int64?
    static let sender = belongsTo(Owner.self, key: "sender", using: ForeignKey(["senderId"]))
    static let receiver = belongsTo(Owner.self, key: "receiver", using: ForeignKey(["receiverId"]))
}

enum Fixture {
    static let schema = """
        CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, born INTEGER);
        CREATE TABLE vault (
            id INTEGER PRIMARY KEY, ownerId INTEGER REFERENCES owner(id) ON DELETE CASCADE, title TEXT NOT \
        NULL, color TEXT);
        CREATE TABLE item (
            id INTEGER PRIMARY KEY, vaultId INTEGER NOT NULL REFERENCES vault(id) ON DELETE CASCADE, title \
        TEXT NOT NULL,
            kind TEXT NOT NULL, size INTEGER, weight DOUBLE, isPinned BOOLEAN NOT NULL DEFAULT 0, changedAt \
        DATETIME);
        CREATE INDEX item_title ON item(title);
        CREATE TABLE attachment (id INTEGER PRIMARY KEY, itemId INTEGER NOT NULL REFERENCES item(id), name \
        TEXT NOT NULL, bytes BLOB);
        CREATE TABLE profile (ownerId INTEGER PRIMARY KEY REFERENCES owner(id), motto TEXT NOT NULL);
        CREATE TABLE share (
            vaultId INTEGER NOT NULL REFERENCES vault(id), ownerId INTEGER NOT NULL REFERENCES owner(id), \
        role TEXT NOT NULL,
            PRIMARY KEY (vaultId, ownerId));
        CREATE TABLE folder (id INTEGER PRIMARY KEY, parentId INTEGER REFERENCES folder(id), name TEXT NOT \
        NULL);
        CREATE TABLE transfer (
            id INTEGER PRIMARY KEY, senderId INTEGER NOT NULL REFERENCES owner(id), receiverId INTEGER \
        REFERENCES owner(id));
        CREATE TABLE tag (name TEXT PRIMARY KEY, weight INTEGER) WITHOUT ROWID;
        CREATE TABLE loose (a, b);
        CREATE VIEW pinned AS SELECT id, title FROM item WHERE isPinned;
        INSERT INTO owner VALUES (1, 'Ann', 'ann@example.com', 1970), (2, 'bob', NULL, 1980), (3, 'Zoé', \
        'zoe@example.com', NULL);
        INSERT INTO vault VALUES (1, 1, 'Home', 'red'), (2, 1, 'Work', NULL), (3, 2, 'Café', 'blue'), (4, \
        NULL, 'Lost', 'red');
        INSERT INTO item VALUES
            (1, 1, 'Bank', 'login', 10, 1.5, 1, '2020-01-02 03:04:05.678'),
            (2, 1, 'Door', 'note', 20, NULL, 0, '2021-06-07 08:09:10.000'),
            (3, 2, 'Mail', 'login', NULL, -2.25, 1, NULL),
            (4, 2, 'bank', 'card', 40, 0.0, 0, '1969-12-31 23:59:59.500'),
            (5, 3, 'Été', 'note', 50, 1e10, 0, '2024-02-29 00:00:00.000');
        INSERT INTO attachment VALUES (1, 1, 'a.txt', x'616263'), (2, 1, 'b.bin', x'00ff'), (3, 4, 'c', \
        NULL), (4, 5, 'd', x'');
        INSERT INTO profile VALUES (1, 'Carpe diem'), (3, 'Sapere aude');
        INSERT INTO share VALUES (1, 2, 'reader'), (1, 3, 'writer'), (3, 1, 'reader');
        INSERT INTO folder VALUES (1, NULL, 'root'), (2, 1, 'left'), (3, 1, 'right'), (4, 2, 'leaf');
        INSERT INTO transfer VALUES (1, 1, 2), (2, 2, 3), (3, 3, NULL);
        INSERT INTO tag VALUES ('alpha', 1), ('beta', 2), ('gamma', NULL);
        INSERT INTO loose VALUES (1, 'one'), (NULL, NULL), (2.5, x'01'), ('12', '3.5');
        """
}
