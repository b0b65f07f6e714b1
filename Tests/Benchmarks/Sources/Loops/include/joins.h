// The C loops over two and three tables: the baseline for associations.
#ifndef COFFER_JOINS_H
#define COFFER_JOINS_H
#include <stdint.h>

typedef struct sqlite3 sqlite3;

// All rows of a query of an item and its owner, as an array with copies of the strings.
int64_t loop_join(sqlite3 *db, const char *sql, int64_t capacity);
// The owners up to this key, and then their items, in a separate array for each owner.
int64_t loop_prefetch(sqlite3 *db, int64_t last, int64_t capacity);
// All rows of a query of an owner and a number.
int64_t loop_counts(sqlite3 *db, const char *sql, int64_t capacity);
// A query of an item, its owner, and its town by the item's key. All calls use the same statement.
int64_t loop_join_keys(sqlite3 *db, const char *sql, int64_t rows, int64_t count);

#endif
