// Runs processes that exit while six of their threads write encrypted files. Counts the processes that crash
// or leave a damaged file.
//
//   process_exit_test FOLDER ROUNDS [bare]    bare: without Coffer's handler, to test the engine alone
//
// Exits with 1 if there were any.
#define _GNU_SOURCE
#define SQLITE_HAS_CODEC 1
#include "page_provider.h"
#include "process_exit.h"
#include <pthread.h>
#include <semaphore.h>
#include <sqlcipher/sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { threads = 6, test_failed = 99 };

static const char key[] = "x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f000102030405060708090a0b0c0d0e0f'";
static char folder[4096];
static sem_t has_written;

static sqlite3 *open_file(int index) {
    char path[4200];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/%d.db", folder, index);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) _exit(test_failed);
    page_provider_begin(NULL);
    if (sqlite3_key(db, key, (int)strlen(key)) != SQLITE_OK) _exit(test_failed);
    page_provider_end();
    sqlite3_exec(db, "PRAGMA cipher_log_level = NONE", NULL, NULL, NULL);
    return db;
}

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK) return;
    fprintf(stderr, "%s: %s\n", sql, message);
    _exit(test_failed);
}

// Even files use a WAL, odd ones a journal. Some transactions exceed the cache, so the engine also reads
// pages and writes some before the commit.
static void *write_on(void *argument) {
    int index = (int)(long)argument;
    sqlite3 *db = open_file(index);
    run(db, index % 2 ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
    run(db, "PRAGMA synchronous = OFF; PRAGMA cache_size = 20; CREATE TABLE t (a INTEGER PRIMARY KEY, b)");
    for (int round = 0;; round++) {
        run(db, "INSERT INTO t (b) VALUES (randomblob(3000))");
        if (round == 3) sem_post(&has_written);
        if (round % 10 == 9) run(db, "UPDATE t SET b = randomblob(2000) WHERE a % 3 = 0");
        if (round % 50 == 49) run(db, "DELETE FROM t WHERE a < (SELECT max(a) FROM t) - 60");
    }
    return NULL;
}

static void exit_while_writing(int is_bare, unsigned delay) {
    sqlite3 *db;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_key(db, key, (int)strlen(key)) != SQLITE_OK) _exit(test_failed);
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, "PRAGMA cipher_version", -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW) _exit(test_failed);
    if (!is_bare) {
        page_provider_install((const char *)sqlite3_column_text(statement, 0));
        process_exit_hold_engine();
    }
    sqlite3_finalize(statement);
    sem_init(&has_written, 0, 0);
    for (long i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, write_on, (void *)i) != 0) _exit(test_failed);
    }
    for (int i = 0; i < threads; i++) sem_wait(&has_written);
    usleep(delay);
    exit(0);
}

static int is_whole(int index) {
    sqlite3 *db = open_file(index);
    sqlite3_stmt *statement;
    int is_whole = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW
        && strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    if (!is_whole) fprintf(stderr, "%d.db: %s\n", index, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return is_whole;
}

static void remove_files(void) {
    static const char *const names[] = { "", "-wal", "-shm", "-journal" };
    for (int i = 0; i < threads * 4; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%d.db%s", folder, i / 4, names[i % 4]);
        unlink(path);
    }
}

// Runs a part of the test in a child process and returns its wait status.
static int child(void (*body)(int, unsigned), int argument, unsigned delay) {
    fflush(NULL);
    pid_t process = fork();
    if (process < 0) exit(2);
    if (process == 0) {
        body(argument, delay);
        _exit(test_failed);
    }
    int status;
    while (waitpid(process, &status, 0) != process) {}
    return status;
}

static void check(int argument, unsigned delay) {
    int damaged = 0;
    for (int i = 0; i < threads; i++) damaged += !is_whole(i);
    _exit(damaged);
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    snprintf(folder, sizeof folder, "%s", arguments[1]);
    int rounds = atoi(arguments[2]), is_bare = count > 3, crashed = 0, damaged = 0;
    for (int round = 0; round < rounds; round++) {
        remove_files();
        int status = child(exit_while_writing, is_bare, (unsigned)(round * 7919 % 20000));
        if (status != 0) {
            crashed++;
            fprintf(stderr, "round %d: the process ended with %s %d\n", round, WIFSIGNALED(status) ? "signal" : "code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
        if (child(check, 0, 0) != 0) damaged++;
    }
    remove_files();
    printf("process exit: SQLite %s, %d processes, %d ended wrongly, %d left a damaged file\n", sqlite3_libversion(), rounds, crashed, damaged);
    return crashed || damaged;
}
