// The C loops: the cost of the same work without any library above the engine.
#ifndef COFFER_LOOPS_H
#define COFFER_LOOPS_H
#include <stdint.h>

typedef struct sqlite3 sqlite3;

typedef struct {
    int64_t id;
    char *name;
    char *team;  // NULL if the player has no team
    int64_t score;
    double rating;
    int64_t bonus;
} player;

// Opens a file with a key, checks the key, and applies the settings. Exits with a message if anything fails.
sqlite3 *loop_open(const char *path, const void *key, int key_length, const char *pragmas);
void loop_close(sqlite3 *db);
void loop_execute(sqlite3 *db, const char *sql);
int64_t loop_integer(sqlite3 *db, const char *sql);
// The caller frees the result.
char *loop_text(sqlite3 *db, const char *sql);

int64_t loop_insert(sqlite3 *db, const char *sql, const player *players, int64_t count);
int64_t loop_insert_transactions(sqlite3 *db, const char *sql, const player *players, int64_t count);
// The rows up to this key, or all of them for INT64_MAX.
int64_t loop_scan(sqlite3 *db, int64_t last);
int64_t loop_fetch_all(sqlite3 *db, int64_t capacity);
int64_t loop_integers(sqlite3 *db, int64_t capacity);
int64_t loop_strings(sqlite3 *db, int64_t capacity);
int64_t loop_keys(sqlite3 *db, int64_t rows, int64_t count, int transactions);
// The rows with the names of the players, found through an index.
int64_t loop_names(sqlite3 *db, const player *players, int64_t count);
// Deletes each player in its own transaction.
int64_t loop_delete_transactions(sqlite3 *db, const player *players, int64_t count);
// The number of pages visited since the last call, and the number of those that were not in the page cache.
void loop_page_counts(sqlite3 *db, int64_t *visited, int64_t *decrypted);
int64_t loop_backup(sqlite3 *source, sqlite3 *destination);

#endif
