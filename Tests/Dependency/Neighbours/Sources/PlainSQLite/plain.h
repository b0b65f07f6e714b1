// One declaration in place of the system's <sqlite3.h>: a Swift module cannot see two versions of SQLite's
// structures.
const char *sqlite3_libversion(void);
