/// Sets the key of a connection, without the headers of SQLCipher: those of GRDB's SQLite are older, and one Swift module cannot import both.
int sqlcipher_set_key(void *connection, const char *key, int length);
