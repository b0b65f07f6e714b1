#include "Neighbour.h"

#include <sqlite3.h>

int neighbour_write(const char *path, const char *text) {
    sqlite3 *db = 0;
    sqlite3_stmt *statement = 0;
    int code = sqlite3_open(path, &db);
    if (code == SQLITE_OK) code = sqlite3_exec(db, "CREATE TABLE note (text TEXT)", 0, 0, 0);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, "INSERT INTO note VALUES (?)", -1, &statement, 0);
    if (code == SQLITE_OK) code = sqlite3_bind_text(statement, 1, text, -1, SQLITE_TRANSIENT);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return code;
}

const char *neighbour_version(void) { return sqlite3_libversion(); }
