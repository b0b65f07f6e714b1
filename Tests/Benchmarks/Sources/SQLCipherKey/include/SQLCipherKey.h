/// Sets the key of a connection. It is declared without SQLCipher's headers, because GRDB's SQLite headers
/// are older, and one Swift module cannot import both.
int sqlcipher_set_key(void *connection, const char *key, int length);
