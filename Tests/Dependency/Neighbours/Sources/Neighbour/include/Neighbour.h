#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

/// Uses SQLite as code that knows nothing of Coffer does: writes `text` into a new file without a key. Returns a result code.
int neighbour_write(const char *path, const char *text);

/// The version that `sqlite3_libversion` answers in this process.
const char *neighbour_version(void);

#endif
