// The engine, its cryptographic library, and wrappers for what Swift cannot call: variadic functions and
// macros.
#ifndef COFFER_CSQLCIPHER_H
#define COFFER_CSQLCIPHER_H

#ifndef SQLITE_HAS_CODEC
#define SQLITE_HAS_CODEC 1
#endif

#if !__has_include(<sqlcipher/sqlite3.h>)
#error "SQLCipher's headers are missing. Run Scripts/bootstrap (it installs libsqlcipher-dev 4.5 or later)."
#endif
#if !__has_include(<openssl/evp.h>)
#error "OpenSSL's headers are missing. Run Scripts/bootstrap (it installs libssl-dev)."
#endif

#include <sqlcipher/sqlite3.h>

// The header carries SQLite's version only: SQLCipher 4.5.3 is the first release on SQLite 3.39, 4.5.4 on
// 3.41.
#if SQLITE_VERSION_NUMBER < 3040000
#error "This SQLCipher is older than 4.5 / SQLite 3.40. Run Scripts/bootstrap (it installs libsqlcipher-dev 4.5 or later)."
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>

#ifndef __APPLE__
/// libdispatch's `dispatch_queue_get_label`, which its Swift module hides where there is no Objective-C. NULL is the current queue.
extern const char *coffer_dispatch_queue_get_label(void *queue) __asm__("dispatch_queue_get_label");
#endif

/// `sqlite3_db_config` for the options that take an int and report an int.
static inline int coffer_db_config_flag(sqlite3 *db, int option, int value, int *current) {
    return sqlite3_db_config(db, option, value, current);
}

/// `sqlite3_config(SQLITE_CONFIG_LOG)`: where SQLite sends its error log. Refused once SQLite is initialized.
static inline int coffer_config_log(void (*log)(void *, int, const char *), void *context) {
    return sqlite3_config(SQLITE_CONFIG_LOG, log, context);
}

/// `sqlite3_config(SQLITE_CONFIG_MEMSTATUS)`: whether SQLite counts the memory that it uses. Refused once SQLite is initialized.
static inline int coffer_config_memory_statistics(int isOn) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, isOn);
}

/// `SQLITE_TESTCTRL_OPTIMIZATIONS` with the bit of the optimization that counts the rows of a view of `UNION ALL` by those of its parts: it is off
/// for the connection. Nothing, in an engine that was built without such controls.
static inline int coffer_stop_counting_views_by_parts(sqlite3 *connection) {
    return sqlite3_test_control(SQLITE_TESTCTRL_OPTIMIZATIONS, connection, 0x200u);
}

/// `SQLITE_TRANSIENT`: SQLite copies the bytes before the call returns.
static inline int coffer_bind_text_transient(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// `SQLITE_STATIC`: the bytes stay where they are until something else is bound, or the statement is finalized.
static inline int coffer_bind_text_static(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int coffer_bind_blob_transient(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// `SQLITE_STATIC`: the caller keeps the bytes alive until the parameter is bound again. An empty value is not NULL.
static inline int coffer_bind_encoded_text_static(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count, unsigned char encoding) {
    return sqlite3_bind_text64(statement, index, bytes ? bytes : "\0", bytes ? count : 0, SQLITE_STATIC, encoding);
}

/// The same with a copy of the bytes.
static inline int coffer_bind_encoded_text_transient(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count, unsigned char encoding) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, encoding);
}

static inline int coffer_bind_blob_static(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", bytes ? count : 0, SQLITE_STATIC);
}

static inline void coffer_result_text_transient(sqlite3_context *context, const char *bytes, sqlite3_uint64 count) {
    sqlite3_result_text64(context, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void coffer_result_blob_transient(sqlite3_context *context, const void *bytes, sqlite3_uint64 count) {
    sqlite3_result_blob64(context, bytes, count, SQLITE_TRANSIENT);
}

/// Extended attributes of a file itself, not of what a symbolic link leads to: Swift's overlay of the C library does not have them.
static inline ssize_t coffer_list_attributes(const char *path, char *names, size_t size) { return llistxattr(path, names, size); }

static inline ssize_t coffer_get_attribute(const char *path, const char *name, void *value, size_t size) {
    return lgetxattr(path, name, value, size);
}

static inline int coffer_set_attribute(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}

static inline int coffer_remove_attribute(int descriptor, const char *name) { return fremovexattr(descriptor, name); }

/// `O_PATH`: a descriptor that holds a file without opening it. Unlike others, it takes no locks of the process along when it is closed.
static inline int coffer_open_path_only(const char *path) {
#if defined(O_PATH)
    return open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
#else
    return open(path, 010000000 | O_NOFOLLOW | O_CLOEXEC);
#endif
}

/// Opens a file for the engine without waiting for the other end of a pipe, which another user may put in the place of a file at any moment. A file
/// that has a lease is waited for, as ever.
static inline int coffer_open_file(const char *path, int flags, int mode) {
    int descriptor = open(path, flags | O_NONBLOCK, mode);
    return descriptor < 0 && errno == EWOULDBLOCK ? open(path, flags, mode) : descriptor;
}

/// Has a file system of the engine, and all that share its calls, open files by `coffer_open_file`.
static inline int coffer_wait_for_no_pipe(sqlite3_vfs *system) {
    if (system->iVersion < 3 || !system->xSetSystemCall) return SQLITE_NOTFOUND;
    return system->xSetSystemCall(system, "open", (sqlite3_syscall_ptr)coffer_open_file);
}

/// `pipe2` with `O_CLOEXEC`: no program that another thread starts has the ends of the pipe. Swift does not see `pipe2`, nor does C without GNU's extensions.
static inline int coffer_private_pipe(int ends[2]) {
#if defined(SYS_pipe2)
    return (int)syscall(SYS_pipe2, ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

/// Whether a file is the root of a mount: 1 or 0, or -1 where the kernel does not say (before Linux 5.8). By the offsets of `struct statx`, which Swift
/// does not see: its attributes are at 8, and those that the kernel knows of at 56.
static inline int coffer_is_mount_point(const char *path) {
#if defined(SYS_statx)
    unsigned long long status[32];
    if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, status) != 0) return -1;
    return (status[7] & 0x2000) == 0 ? -1 : (status[1] & 0x2000) != 0;
#else
    return -1;
#endif
}

/// `renameat2(RENAME_NOREPLACE)`: fails with EEXIST where there is something of the new name.
static inline int coffer_rename_exclusively(const char *path, const char *new_path) {
#if defined(SYS_renameat2)
    return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, new_path, 1u);
#else
    errno = ENOSYS;
    return -1;
#endif
}

#if defined(__linux__)
#include <sys/prctl.h>
/// `prctl(PR_SET_DUMPABLE, 0)`: no core dump, also not into a pipe, and no debugger of the same user.
static inline int coffer_deny_core_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
#else
static inline int coffer_deny_core_dumps(void) { return 0; }
#endif

// What only some engines have. These have names of their own, so that a program that calls the engine's
// functions itself still needs an engine that has them. An engine without them leaves NULL here; a shared
// library with functions of these names may fill the places, which is why the compile options of the engine
// are asked as well.

/// How `Scripts/build-engine` has built the engine. NULL for the engine of a distribution.
extern const char *coffer_engine_description_if_own(void) __asm__("coffer_engine_description") __attribute__((weak));
static inline const char *coffer_own_engine(void) {
    return coffer_engine_description_if_own ? coffer_engine_description_if_own() : (const char *)0;
}

/// The hook before a row changes, and what can be asked in it.
extern void *coffer_preupdate_hook(
    sqlite3 *connection, void (*hook)(void *, sqlite3 *, int, char const *, char const *, sqlite3_int64, sqlite3_int64), void *context)
    __asm__("sqlite3_preupdate_hook") __attribute__((weak));
extern int coffer_preupdate_old(sqlite3 *connection, int index, sqlite3_value **value) __asm__("sqlite3_preupdate_old") __attribute__((weak));
extern int coffer_preupdate_new(sqlite3 *connection, int index, sqlite3_value **value) __asm__("sqlite3_preupdate_new") __attribute__((weak));
extern int coffer_preupdate_count(sqlite3 *connection) __asm__("sqlite3_preupdate_count") __attribute__((weak));
extern int coffer_preupdate_depth(sqlite3 *connection) __asm__("sqlite3_preupdate_depth") __attribute__((weak));

static inline int coffer_has_preupdate_hook(void) {
    return sqlite3_compileoption_used("ENABLE_PREUPDATE_HOOK") && coffer_preupdate_hook && coffer_preupdate_old && coffer_preupdate_new
        && coffer_preupdate_count && coffer_preupdate_depth;
}

/// States of a log, which another connection can read as well.
extern int coffer_snapshot_get(sqlite3 *connection, const char *schema, sqlite3_snapshot **snapshot)
    __asm__("sqlite3_snapshot_get") __attribute__((weak));
extern int coffer_snapshot_open(sqlite3 *connection, const char *schema, sqlite3_snapshot *snapshot)
    __asm__("sqlite3_snapshot_open") __attribute__((weak));
extern void coffer_snapshot_free(sqlite3_snapshot *snapshot) __asm__("sqlite3_snapshot_free") __attribute__((weak));

static inline int coffer_has_snapshots(void) {
    return sqlite3_compileoption_used("ENABLE_SNAPSHOT") && coffer_snapshot_get && coffer_snapshot_open && coffer_snapshot_free;
}

/// The version of SQLite that this code was compiled for, to be compared with the one that answers at run time.
static inline int coffer_compiled_sqlite_version(void) { return SQLITE_VERSION_NUMBER; }

/// `SYNC_FILE_RANGE_WRITE`: the system begins to write bytes of a file to the disk, and nobody waits. Headers hide the function, which is
/// in every C library of Linux.
static inline void coffer_begin_synchronizing(int descriptor, off_t offset, off_t count) {
#if defined(__linux__)
    int sync_file_range(int, off_t, off_t, unsigned int);
    sync_file_range(descriptor, offset, count, 2);
#endif
}

struct coffer_lease_question {
    const char *path;
    int answer;
};

static inline void *coffer_answer_lease_question(void *pointer) {
    struct coffer_lease_question *question = (struct coffer_lease_question *)pointer;
#if defined(__linux__)
    long syscall(long, ...);
    long apart = -1;
#ifdef SYS_close_range
    apart = syscall(SYS_close_range, 0U, ~0U, 2U); // CLOSE_RANGE_UNSHARE: with a table of descriptors of its own, which is empty.
#endif
    if (apart != 0) apart = syscall(SYS_unshare, 0x400); // CLONE_FILES: with one that has copies.
    if (apart != 0) return NULL;
    int descriptor = open(question->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) {
        // Another process has a lease on it.
        if (errno == EWOULDBLOCK) question->answer = 1;
        return NULL;
    }
    // F_SETSIG and F_SETLEASE. Who opens the file now waits until this is closed, and has the kernel signal this process: by SIGIO, which ends
    // a process that does not expect it, if no other signal is chosen. SIGURG is ignored where nobody asks for it.
    if (fcntl(descriptor, 10, SIGURG) == 0) question->answer = fcntl(descriptor, 1024, F_WRLCK) == 0 ? 0 : errno == EAGAIN ? 1 : -1;
    close(descriptor);
#endif
    return NULL;
}

/// Whether any descriptor of any process has a file open: 1 if one has, 0 if none has, -1 where the system does not say.
static inline int coffer_ask_for_lease(const char *path) {
    struct coffer_lease_question question = {path, -1};
    pthread_t thread;
    // A handler of a signal would find no descriptor in that thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&thread, NULL, coffer_answer_lease_question, &question);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) return -1;
    pthread_join(thread, NULL);
    return question.answer;
}

/// Gives memory that was freed back to the system, where the C library has a call for it.
static inline void coffer_give_back_free_memory(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

#endif
