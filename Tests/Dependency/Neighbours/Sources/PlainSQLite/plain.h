// A single declaration in place of the system's <sqlite3.h>, because a Swift module cannot import two
// versions of SQLite's structures.
const char *sqlite3_libversion(void);
