#include "loops.h"
#include "support.h"

void loop_execute(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail(db, sql);
}

sqlite3 *loop_open(const char *path, const void *key, int key_length, const char *pragmas) {
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) fail(db, path);
    sqlite3_busy_timeout(db, 10000);
    if (sqlite3_key(db, key, key_length) != SQLITE_OK) fail(db, "key");
    loop_execute(db, "SELECT count(*) FROM sqlite_master; PRAGMA journal_mode = WAL");
    loop_execute(db, pragmas);
    return db;
}

void loop_close(sqlite3 *db) {
    if (sqlite3_close(db) != SQLITE_OK) fail(db, "close");
}

int64_t loop_integer(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    if (sqlite3_step(statement) != SQLITE_ROW) fail(db, sql);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

char *loop_text(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    char *text = NULL;
    while (sqlite3_step(statement) == SQLITE_ROW && !text) {
        const unsigned char *value = sqlite3_column_text(statement, 0);
        text = strdup(value ? (const char *)value : "");
    }
    sqlite3_finalize(statement);
    return text;
}

static int64_t check(const player *p, int name_length, int team_length) {
    return p->id + name_length + team_length + p->score + (int64_t)(p->rating * 4) + p->bonus;
}

static int64_t read_player(sqlite3_stmt *statement, player *p) {
    int name_length, team_length;
    p->id = sqlite3_column_int64(statement, 0);
    p->name = copy_text(statement, 1, &name_length);
    p->team = copy_text(statement, 2, &team_length);
    p->score = sqlite3_column_int64(statement, 3);
    p->rating = sqlite3_column_double(statement, 4);
    p->bonus = sqlite3_column_int64(statement, 5);
    return check(p, name_length, team_length);
}

static void free_player(player *p) {
    free(p->name);
    free(p->team);
}

static void insert_one(sqlite3 *db, sqlite3_stmt *statement, const player *p) {
    sqlite3_bind_int64(statement, 1, p->id);
    sqlite3_bind_text(statement, 2, p->name, -1, SQLITE_STATIC);
    if (p->team) sqlite3_bind_text(statement, 3, p->team, -1, SQLITE_STATIC);
    else sqlite3_bind_null(statement, 3);
    sqlite3_bind_int64(statement, 4, p->score);
    sqlite3_bind_double(statement, 5, p->rating);
    sqlite3_bind_int64(statement, 6, p->bonus);
    if (sqlite3_step(statement) != SQLITE_DONE) fail(db, "insert");
    sqlite3_reset(statement);
}

int64_t loop_insert(sqlite3 *db, const char *sql, const player *players, int64_t count) {
    loop_execute(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = prepare(db, sql);
    for (int64_t i = 0; i < count; i++) insert_one(db, statement, &players[i]);
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    return count;
}

int64_t loop_insert_transactions(sqlite3 *db, const char *sql, const player *players, int64_t count) {
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT"), *statement = prepare(db, sql);
    for (int64_t i = 0; i < count; i++) {
        step_done(db, begin);
        insert_one(db, statement, &players[i]);
        step_done(db, commit);
    }
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(statement);
    return count;
}

int64_t loop_scan(sqlite3 *db, int64_t last) {
    loop_execute(db, "BEGIN");
    sqlite3_stmt *statement = prepare(db, last == INT64_MAX ? "SELECT * FROM player" : "SELECT * FROM player WHERE id <= ?");
    if (last != INT64_MAX) sqlite3_bind_int64(statement, 1, last);
    int64_t sum = 0;
    player p;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        sum += read_player(statement, &p);
        free_player(&p);
    }
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    return sum;
}

int64_t loop_fetch_all(sqlite3 *db, int64_t capacity) {
    loop_execute(db, "BEGIN");
    sqlite3_stmt *statement = prepare(db, "SELECT * FROM player");
    int64_t sum = 0, count = 0, room = 16;
    player *players = malloc((size_t)room * sizeof *players);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (count == room) players = realloc(players, (size_t)(room *= 2) * sizeof *players);
        sum += read_player(statement, &players[count++]);
    }
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    for (int64_t i = 0; i < count; i++) free_player(&players[i]);
    free(players);
    return count == capacity ? sum : -1;
}

int64_t loop_integers(sqlite3 *db, int64_t capacity) {
    loop_execute(db, "BEGIN");
    sqlite3_stmt *statement = prepare(db, "SELECT score FROM player");
    int64_t sum = 0, count = 0, room = 16;
    int64_t *values = malloc((size_t)room * sizeof *values);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (count == room) values = realloc(values, (size_t)(room *= 2) * sizeof *values);
        values[count++] = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    for (int64_t i = 0; i < count; i++) sum += values[i];
    free(values);
    return count == capacity ? sum : -1;
}

int64_t loop_strings(sqlite3 *db, int64_t capacity) {
    loop_execute(db, "BEGIN");
    sqlite3_stmt *statement = prepare(db, "SELECT name FROM player");
    int64_t sum = 0, count = 0, room = 16;
    char **values = malloc((size_t)room * sizeof *values);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        int length;
        if (count == room) values = realloc(values, (size_t)(room *= 2) * sizeof *values);
        values[count++] = copy_text(statement, 0, &length);
        sum += length;
    }
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    for (int64_t i = 0; i < count; i++) free(values[i]);
    free(values);
    return count == capacity ? sum : -1;
}

int64_t loop_keys(sqlite3 *db, int64_t rows, int64_t count, int transactions) {
    sqlite3_stmt *begin = prepare(db, "BEGIN"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *statement = prepare(db, "SELECT * FROM player WHERE id = ?");
    int64_t sum = 0;
    player p;
    if (!transactions) step_done(db, begin);
    for (int64_t i = 0; i < count; i++) {
        if (transactions) step_done(db, begin);
        sqlite3_bind_int64(statement, 1, (i * 7919) % rows + 1);
        if (sqlite3_step(statement) != SQLITE_ROW) fail(db, "no such player");
        sum += read_player(statement, &p);
        free_player(&p);
        sqlite3_reset(statement);
        if (transactions) step_done(db, commit);
    }
    if (!transactions) step_done(db, commit);
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(statement);
    return sum;
}

int64_t loop_names(sqlite3 *db, const player *players, int64_t count) {
    loop_execute(db, "BEGIN");
    sqlite3_stmt *statement = prepare(db, "SELECT * FROM player WHERE name = ?");
    int64_t sum = 0;
    player p;
    for (int64_t i = 0; i < count; i++) {
        sqlite3_bind_text(statement, 1, players[i].name, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) != SQLITE_ROW) fail(db, "no player of this name");
        sum += read_player(statement, &p);
        free_player(&p);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    return sum;
}

int64_t loop_delete_transactions(sqlite3 *db, const player *players, int64_t count) {
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *statement = prepare(db, "DELETE FROM player WHERE id = ?");
    for (int64_t i = 0; i < count; i++) {
        step_done(db, begin);
        sqlite3_bind_int64(statement, 1, players[i].id);
        step_done(db, statement);
        step_done(db, commit);
    }
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(statement);
    return count;
}

void loop_page_counts(sqlite3 *db, int64_t *visited, int64_t *decrypted) {
    int hits = 0, misses = 0, highest = 0;
    sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_HIT, &hits, &highest, 1);
    sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &misses, &highest, 1);
    *visited = (int64_t)hits + misses;
    *decrypted = misses;
}

int64_t loop_backup(sqlite3 *source, sqlite3 *destination) {
    sqlite3_backup *backup = sqlite3_backup_init(destination, "main", source, "main");
    if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE) fail(destination, "backup");
    int64_t pages = sqlite3_backup_pagecount(backup);
    sqlite3_backup_finish(backup);
    return pages;
}
