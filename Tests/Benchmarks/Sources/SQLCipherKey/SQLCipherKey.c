#include "SQLCipherKey.h"

extern int sqlite3_key(void *connection, const void *key, int length);

int sqlcipher_set_key(void *connection, const char *key, int length) { return sqlite3_key(connection, key, length); }
