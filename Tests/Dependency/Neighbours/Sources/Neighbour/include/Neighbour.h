#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

/// Uses SQLite without any knowledge of Coffer: writes `text` to a new file without a key. Returns a result
/// code.
int neighbour_write(const char *path, const char *text);

/// Returns the result of `sqlite3_libversion` in this process.
const char *neighbour_version(void);

#endif
