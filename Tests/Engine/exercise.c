// Typical work on an encrypted database in the current folder. It trains an engine that is built with a
// profile, and verifies the built engine.
//
//     exercise                  does the work
//     exercise --options        does the work, and prints the compile options of the engine
//     exercise --options-only   only prints the compile options
//
// Exits with 1, and prints the failing line, at the first unexpected result.
#define SQLITE_HAS_CODEC 1
#include "sqlite3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { item_count = 30000 };

static sqlite3 *database;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "exercise.c:%d: not %s (%s)\n", __LINE__, #condition, database ? sqlite3_errmsg(database) : "no connection"); \
            exit(1); \
        } \
    } while (0)

static void run(const char *sql) { CHECK(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK); }

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    CHECK(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) == SQLITE_OK);
    return statement;
}

static sqlite3_int64 number(const char *sql) {
    sqlite3_stmt *statement = prepare(sql);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    sqlite3_int64 result = sqlite3_column_int64(statement, 0);
    CHECK(sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_finalize(statement);
    return result;
}

// The same sequence each time, so that two builds do the same work.
static unsigned next_random(void) {
    static unsigned long long state = 20240813;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33);
}

static void open_database(void) {
    unsigned char key[67];
    memcpy(key, "x'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'", 67);
    CHECK(sqlite3_open_v2("vault.db", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK);
    CHECK(sqlite3_key(database, key, sizeof key) == SQLITE_OK);
    CHECK(number("SELECT count(*) FROM sqlite_master") >= 0);
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -2000");
}

static void fill(void) {
    run("CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
        "CREATE TABLE item (id INTEGER PRIMARY KEY, ownerId INTEGER NOT NULL REFERENCES owner (id) ON DELETE CASCADE, title TEXT NOT NULL,"
        " size INTEGER, price REAL, note BLOB, details TEXT);"
        "CREATE INDEX itemByOwner ON item (ownerId, size);"
        "CREATE VIRTUAL TABLE text USING fts5 (body)");
    run("BEGIN");
    sqlite3_stmt *owner = prepare("INSERT INTO owner VALUES (?, ?)");
    for (int i = 1; i <= 300; i++) {
        char name[32];
        int length = snprintf(name, sizeof name, "owner %u", next_random() % 100000);
        sqlite3_bind_int(owner, 1, i);
        sqlite3_bind_text(owner, 2, name, length, SQLITE_STATIC);
        CHECK(sqlite3_step(owner) == SQLITE_DONE);
        sqlite3_reset(owner);
    }
    sqlite3_finalize(owner);
    run("COMMIT; BEGIN");
    sqlite3_stmt *item = prepare("INSERT INTO item (ownerId, title, size, price, note, details) VALUES (?, ?, ?, ?, ?, ?)");
    unsigned char note[64];
    for (int i = 0; i < item_count; i++) {
        char title[48], details[96];
        unsigned random = next_random();
        int title_length = snprintf(title, sizeof title, "title %u of item %d", random, i);
        int details_length = snprintf(details, sizeof details, "{\"colour\": \"%s\", \"tags\": [%u, %u]}", random % 3 ? "red" : "blue", random % 7, random % 11);
        for (size_t n = 0; n < sizeof note; n++) note[n] = (unsigned char)(random + n);
        sqlite3_bind_int(item, 1, 1 + (int)(random % 300));
        sqlite3_bind_text(item, 2, title, title_length, SQLITE_STATIC);
        if (random % 10) sqlite3_bind_int64(item, 3, random % 5000); else sqlite3_bind_null(item, 3);
        sqlite3_bind_double(item, 4, random / 100.0);
        sqlite3_bind_blob(item, 5, note, (int)(random % sizeof note), SQLITE_STATIC);
        sqlite3_bind_text(item, 6, details, details_length, SQLITE_STATIC);
        CHECK(sqlite3_step(item) == SQLITE_DONE);
        sqlite3_reset(item);
    }
    sqlite3_finalize(item);
    run("INSERT INTO text (rowid, body) SELECT id, title || ' ' || details FROM item WHERE id % 3 = 0; COMMIT");
}

// Reads all columns of all rows, as a cursor of records does.
static void scan(void) {
    sqlite3_stmt *all = prepare("SELECT id, ownerId, title, size, price, note, details FROM item");
    sqlite3_int64 rows = 0, bytes = 0;
    while (sqlite3_step(all) == SQLITE_ROW) {
        rows += 1;
        for (int column = 0; column < sqlite3_column_count(all); column++) {
            switch (sqlite3_column_type(all, column)) {
                case SQLITE_INTEGER: bytes += sqlite3_column_int64(all, column) != 0; break;
                case SQLITE_FLOAT: bytes += sqlite3_column_double(all, column) != 0; break;
                case SQLITE_TEXT: bytes += sqlite3_column_text(all, column) != NULL; // and its size:
                case SQLITE_BLOB: bytes += sqlite3_column_bytes(all, column); break;
            }
        }
    }
    sqlite3_finalize(all);
    CHECK(rows == item_count && bytes > rows * 50);
}

static void fetch(void) {
    sqlite3_stmt *by_key = prepare("SELECT * FROM item WHERE id = ?");
    sqlite3_stmt *by_index = prepare("SELECT * FROM item WHERE ownerId = ? ORDER BY size LIMIT 10");
    for (int i = 0; i < 20000; i++) {
        if (i % 10 == 0) run("BEGIN");
        sqlite3_bind_int64(by_key, 1, 1 + next_random() % item_count);
        CHECK(sqlite3_step(by_key) == SQLITE_ROW && sqlite3_column_bytes(by_key, 2) > 10 && sqlite3_step(by_key) == SQLITE_DONE);
        sqlite3_reset(by_key);
        if (i % 10 == 0) {
            sqlite3_bind_int64(by_index, 1, 1 + next_random() % 300);
            while (sqlite3_step(by_index) == SQLITE_ROW) CHECK(sqlite3_column_int64(by_index, 0) > 0);
            sqlite3_reset(by_index);
        }
        if (i % 10 == 9) run("COMMIT");
    }
    sqlite3_finalize(by_key);
    sqlite3_finalize(by_index);
}

static void ask(void) {
    for (int i = 0; i < 5; i++) {
        CHECK(number("SELECT count(*) FROM (SELECT ownerId, count(*), avg(price), max(size) FROM item GROUP BY ownerId)") == 300);
        CHECK(number("SELECT count(*) FROM (SELECT title, size FROM item ORDER BY price, title LIMIT 5000)") == 5000);
        CHECK(number("SELECT count(*) FROM item JOIN owner ON owner.id = item.ownerId WHERE owner.name LIKE 'owner%' AND item.size > 100") > 1000);
        CHECK(number("SELECT count(*) FROM item WHERE json_extract(details, '$.colour') = 'red'") > 1000);
        CHECK(number("SELECT sum(value) FROM item, json_each(details, '$.tags') WHERE item.id < 3000") > 1000);
        CHECK(number("SELECT count(*) FROM text WHERE text MATCH 'red AND item'") > 1000);
        CHECK(number("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT sum(i) FROM n") == 200010000);
    }
    for (int i = 0; i < 3000; i++) {
        char sql[160];
        snprintf(sql, sizeof sql, "SELECT id, title, upper(title), coalesce(size, %d) FROM item WHERE ownerId = %d AND size BETWEEN ? AND ? ORDER BY id DESC", i, i % 300);
        sqlite3_finalize(prepare(sql));
    }
}

static void change(void) {
    sqlite3_stmt *update = prepare("UPDATE item SET size = ?, title = ? WHERE id = ?");
    for (int i = 0; i < 4000; i++) {
        if (i % 4 == 0) run("BEGIN IMMEDIATE");
        sqlite3_bind_int(update, 1, i);
        sqlite3_bind_text(update, 2, "another title", -1, SQLITE_STATIC);
        sqlite3_bind_int64(update, 3, 1 + next_random() % item_count);
        CHECK(sqlite3_step(update) == SQLITE_DONE && sqlite3_changes(database) == 1);
        sqlite3_reset(update);
        if (i % 4 == 3) run("COMMIT");
    }
    sqlite3_finalize(update);
    run("SAVEPOINT a; DELETE FROM item WHERE id % 50 = 0; ROLLBACK TO a; RELEASE a");
    run("DELETE FROM owner WHERE id % 100 = 0; INSERT INTO owner VALUES (1, 'again') ON CONFLICT (id) DO UPDATE SET name = excluded.name");
    CHECK(number("SELECT count(*) FROM item WHERE ownerId = 100") == 0);
    run("PRAGMA wal_checkpoint(TRUNCATE)");
}

static void copy(void) {
    run("VACUUM");
    sqlite3_stmt *pages = prepare("PRAGMA cipher_integrity_check");
    CHECK(sqlite3_step(pages) == SQLITE_DONE);
    sqlite3_finalize(pages);
    sqlite3_stmt *structure = prepare("PRAGMA integrity_check");
    CHECK(sqlite3_step(structure) == SQLITE_ROW && !strcmp((const char *)sqlite3_column_text(structure, 0), "ok"));
    sqlite3_finalize(structure);
}

static void print_options(void) {
    const char *option;
    for (int i = 0; (option = sqlite3_compileoption_get(i)); i++) printf("%s\n", option);
}

int main(int count, char **arguments) {
    int is_only = count == 2 && !strcmp(arguments[1], "--options-only");
    if (!is_only) {
        open_database();
        fill();
        scan();
        fetch();
        ask();
        change();
        copy();
        CHECK(sqlite3_close(database) == SQLITE_OK);
        // Another connection reads the content of the file, which contains no plaintext.
        open_database();
        CHECK(number("SELECT count(*) FROM item") > item_count - item_count / 50);
        for (int i = 0; i < 5; i++) CHECK(number("SELECT count(*) FROM item WHERE title IS NOT NULL AND price >= 0") > 0);
        CHECK(sqlite3_close(database) == SQLITE_OK);
        database = NULL;
        char start[16];
        FILE *file = fopen("vault.db", "rb");
        CHECK(file && fread(start, 1, sizeof start, file) == sizeof start && memcmp(start, "SQLite format 3", 15));
        fclose(file);
    }
    if (count == 2) print_options();
    return 0;
}
