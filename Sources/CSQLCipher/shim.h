// The engine, its cryptographic library, and wrappers for variadic functions and macros, which Swift cannot
// call.
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

// The header states only SQLite's version. SQLCipher 4.5.3 is the first release with SQLite 3.39, and 4.5.4
// the first with 3.41.
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
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>

#ifndef __APPLE__
/// libdispatch's `dispatch_queue_get_label`. Its Swift module hides the function on systems without
/// Objective-C. NULL is the current queue.
extern const char *coffer_dispatch_queue_get_label(void *queue) __asm__("dispatch_queue_get_label");
#endif

/// Calls `sqlite3_db_config` for options that take an int and report an int.
static inline int coffer_db_config_flag(sqlite3 *db, int option, int value, int *current) {
    return sqlite3_db_config(db, option, value, current);
}

/// Sets the function that receives SQLite's error log (`SQLITE_CONFIG_LOG`). Fails once SQLite is
/// initialized.
static inline int coffer_config_log(void (*log)(void *, int, const char *), void *context) {
    return sqlite3_config(SQLITE_CONFIG_LOG, log, context);
}

/// Turns SQLite's memory statistics on or off (`SQLITE_CONFIG_MEMSTATUS`). Fails once SQLite is initialized.
static inline int coffer_config_memory_statistics(int isOn) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, isOn);
}

/// Makes page caches allocate page by page. By default, each allocates 20 pages at once, at its first page
/// (`SQLITE_CONFIG_PAGECACHE`). Fails once SQLite is initialized.
static inline int coffer_config_single_pages(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

/// Turns off, for one connection, the optimization that counts the rows of a `UNION ALL` view by adding the
/// counts of its parts (`SQLITE_TESTCTRL_OPTIMIZATIONS`). Does nothing if the engine was built without test
/// controls.
static inline int coffer_stop_counting_views_by_parts(sqlite3 *connection) {
    return sqlite3_test_control(SQLITE_TESTCTRL_OPTIMIZATIONS, connection, 0x200u);
}

/// Binds text with `SQLITE_TRANSIENT`: SQLite copies the bytes before the call returns.
static inline int coffer_bind_text_transient(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Binds text with `SQLITE_STATIC`: the bytes must stay in place until the parameter is bound again or the
/// statement is finalized.
static inline int coffer_bind_text_static(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int coffer_bind_blob_transient(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// Binds text in any encoding with `SQLITE_STATIC`: the caller keeps the bytes alive until the parameter is
/// bound again. An empty value is not NULL.
static inline int coffer_bind_encoded_text_static(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count, unsigned char encoding) {
    return sqlite3_bind_text64(statement, index, bytes ? bytes : "\0", bytes ? count : 0, SQLITE_STATIC, encoding);
}

/// Binds text in any encoding, and copies the bytes.
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

/// Lists the extended attributes of a file, without following a symbolic link. Swift's overlay of the C
/// library lacks these functions.
static inline ssize_t coffer_list_attributes(const char *path, char *names, size_t size) { return llistxattr(path, names, size); }

static inline ssize_t coffer_get_attribute(const char *path, const char *name, void *value, size_t size) {
    return lgetxattr(path, name, value, size);
}

static inline int coffer_set_attribute(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}

static inline int coffer_remove_attribute(int descriptor, const char *name) { return fremovexattr(descriptor, name); }

/// Opens a file for the engine without waiting for the other end of a pipe, which another user may put in
/// place of a file at any moment. A file with a lease is waited for, as usual.
static inline int coffer_open_file(const char *path, int flags, int mode) {
    int descriptor = open(path, flags | O_NONBLOCK, mode);
    return descriptor < 0 && errno == EWOULDBLOCK ? open(path, flags, mode) : descriptor;
}

/// Makes a VFS, and all others that share its system calls, open files with `coffer_open_file`.
static inline int coffer_wait_for_no_pipe(sqlite3_vfs *system) {
    if (system->iVersion < 3 || !system->xSetSystemCall) return SQLITE_NOTFOUND;
    return system->xSetSystemCall(system, "open", (sqlite3_syscall_ptr)coffer_open_file);
}

/// Calls `pipe2` with `O_CLOEXEC`, so that programs started by other threads do not inherit the pipe. Swift
/// cannot see `pipe2`, nor can C without GNU extensions.
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

/// Returns 1 if a file is the root of a mount, 0 if not, and -1 if the kernel does not say (before Linux
/// 5.8). It uses the offsets of `struct statx`, which Swift cannot see: the attributes are at 8, and the mask
/// of the attributes that the kernel supports at 56.
static inline int coffer_is_mount_point(const char *path) {
#if defined(SYS_statx)
    unsigned long long status[32];
    if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, status) != 0) return -1;
    return (status[7] & 0x2000) == 0 ? -1 : (status[1] & 0x2000) != 0;
#else
    return -1;
#endif
}

/// Stores the device and the inode of a file, as far as the kernel knows them without asking the server of
/// its file system, which may not answer (`AT_STATX_DONT_SYNC`). Returns 0, or an `errno`.
static inline int coffer_known_file(const char *path, unsigned long long *device, unsigned long long *inode) {
#if defined(SYS_statx)
    // Of `struct statx`: the inode is at 32, and the major and minor numbers of the device are at 136 and 140.
    unsigned long long status[32];
    if (syscall(SYS_statx, AT_FDCWD, path, 0x4000, 0x101, status) != 0) return errno;
    unsigned numbers[2];
    memcpy(numbers, &status[17], sizeof(numbers));
    *device = makedev(numbers[0], numbers[1]);
    *inode = status[4];
    return 0;
#else
    return ENOSYS;
#endif
}

/// Calls `renameat2(RENAME_NOREPLACE)`, which fails with EEXIST if the new name exists.
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
/// Calls `prctl(PR_SET_DUMPABLE, 0)`: prevents core dumps, also into a pipe, and debuggers of the same user.
static inline int coffer_deny_core_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
#else
static inline int coffer_deny_core_dumps(void) { return 0; }
#endif

// Functions that only some engines have. They are declared under different names, so that a program that
// calls the engine's functions directly still fails to link with an engine that lacks them. With such an
// engine, they are NULL here. A shared library with functions of these names may define them, so the engine's
// compile options are checked as well.

/// Describes how `Scripts/build-engine` built the engine. NULL for a distribution's engine.
extern const char *coffer_engine_description_if_own(void) __asm__("coffer_engine_description") __attribute__((weak));
static inline const char *coffer_own_engine(void) {
    return coffer_engine_description_if_own ? coffer_engine_description_if_own() : (const char *)0;
}

/// The hook that is called before a row changes, and the functions that can be called in it.
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

/// Snapshots of a write-ahead log, which other connections can read as well.
extern int coffer_snapshot_get(sqlite3 *connection, const char *schema, sqlite3_snapshot **snapshot)
    __asm__("sqlite3_snapshot_get") __attribute__((weak));
extern int coffer_snapshot_open(sqlite3 *connection, const char *schema, sqlite3_snapshot *snapshot)
    __asm__("sqlite3_snapshot_open") __attribute__((weak));
extern void coffer_snapshot_free(sqlite3_snapshot *snapshot) __asm__("sqlite3_snapshot_free") __attribute__((weak));

static inline int coffer_has_snapshots(void) {
    return sqlite3_compileoption_used("ENABLE_SNAPSHOT") && coffer_snapshot_get && coffer_snapshot_open && coffer_snapshot_free;
}

/// Returns the SQLite version that this code was compiled for, to be compared with the version at run time.
static inline int coffer_compiled_sqlite_version(void) { return SQLITE_VERSION_NUMBER; }

/// Starts writing bytes of a file to disk, without waiting (`SYNC_FILE_RANGE_WRITE`). The headers hide the
/// function, but every C library on Linux has it.
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
    apart = syscall(SYS_close_range, 0U, ~0U, 2U); // CLOSE_RANGE_UNSHARE: gives this thread its own, empty descriptor table.
#endif
    if (apart != 0) apart = syscall(SYS_unshare, 0x400); // CLONE_FILES: gives it a copy of the table.
    if (apart != 0) return NULL;
    int descriptor = open(question->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) {
        // Another process has a lease on the file.
        if (errno == EWOULDBLOCK) question->answer = 1;
        return NULL;
    }
    // F_SETSIG and F_SETLEASE. A process that opens the file now waits until this descriptor is closed, and
    // the kernel signals this process. The default signal, SIGIO, ends a process that does not handle it.
    // SIGURG is ignored by default.
    if (fcntl(descriptor, 10, SIGURG) == 0) question->answer = fcntl(descriptor, 1024, F_WRLCK) == 0 ? 0 : errno == EAGAIN ? 1 : -1;
    close(descriptor);
#endif
    return NULL;
}

/// Checks whether any descriptor of any process has a file open. Returns 1 if so, 0 if not, and -1 if the
/// system does not say.
static inline int coffer_ask_for_lease(const char *path) {
    struct coffer_lease_question question = {path, -1};
    pthread_t thread;
    // Block all signals, because a signal handler would find no descriptors in that thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&thread, NULL, coffer_answer_lease_question, &question);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) return -1;
    pthread_join(thread, NULL);
    return question.answer;
}

/// Returns freed memory to the system, if the C library has a function for it.
static inline void coffer_give_back_free_memory(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

#endif
