// Helpers for all loops.
#ifndef COFFER_LOOPS_SUPPORT_H
#define COFFER_LOOPS_SUPPORT_H
#define SQLITE_HAS_CODEC 1
#include <sqlcipher/sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void fail(sqlite3 *db, const char *what) {
    fprintf(stderr, "%s: %s\n", what, db ? sqlite3_errmsg(db) : "no connection");
    exit(70);
}

static inline sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) fail(db, sql);
    return statement;
}

// Copies a string, as every library above the engine has to do.
static inline char *copy_text(sqlite3_stmt *statement, int column, int *length) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    *length = 0;
    if (!text) return NULL;
    *length = sqlite3_column_bytes(statement, column);
    char *copy = malloc((size_t)*length + 1);
    memcpy(copy, text, (size_t)*length + 1);
    return copy;
}

static inline void step_done(sqlite3 *db, sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail(db, sqlite3_sql(statement));
    sqlite3_reset(statement);
}

#endif
