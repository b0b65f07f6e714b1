#define _GNU_SOURCE
#include "process_exit.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlcipher/sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// MARK: - The engine

// Available since 4.7; NULL before.
extern void sqlcipher_extra_shutdown(void) __attribute__((weak));
extern void *sqlcipher_get_provider(void) __attribute__((weak));

enum { patience = 10 /* seconds */ };

static atomic_int is_exiting;
static pthread_t exiting_thread; // Valid if is_exiting.

static int is_held(void) { return atomic_load_explicit(&is_exiting, memory_order_acquire) && !pthread_equal(pthread_self(), exiting_thread); }

int process_exit_allows(void) {
    if (!atomic_load_explicit(&is_exiting, memory_order_acquire)) return 1;
    if (!is_held()) return !sqlcipher_get_provider || sqlcipher_get_provider() != NULL; // NULL after its shutdown.
    for (int i = 0; i < patience * 10; i++) nanosleep(&(struct timespec) { 0, 100 * 1000 * 1000 }, NULL);
    return 0;
}

void process_exit_stop(void) {
    while (is_held()) pause();
}

// MARK: - Files

// The calls that read pages, change a file, or end a transaction.
enum { call_read, call_pread, call_pread64, call_write, call_pwrite, call_pwrite64, call_ftruncate, call_unlink, calls };

static sqlite3_syscall_ptr stock[calls];

#define HELD(name, result, parameters, arguments) \
    static result held_##name parameters { \
        if (process_exit_allows()) return ((result(*) parameters)stock[call_##name])arguments; \
        errno = EIO; \
        return -1; \
    }

HELD(read, ssize_t, (int file, void *bytes, size_t count), (file, bytes, count))
HELD(pread, ssize_t, (int file, void *bytes, size_t count, off_t offset), (file, bytes, count, offset))
HELD(pread64, ssize_t, (int file, void *bytes, size_t count, off64_t offset), (file, bytes, count, offset))
HELD(write, ssize_t, (int file, const void *bytes, size_t count), (file, bytes, count))
HELD(pwrite, ssize_t, (int file, const void *bytes, size_t count, off_t offset), (file, bytes, count, offset))
HELD(pwrite64, ssize_t, (int file, const void *bytes, size_t count, off64_t offset), (file, bytes, count, offset))
HELD(ftruncate, int, (int file, off_t size), (file, size))
HELD(unlink, int, (const char *path), (path))

#define ENTRY(name) [call_##name] = { #name, (sqlite3_syscall_ptr)held_##name }
static const struct {
    const char *name;
    sqlite3_syscall_ptr held;
} held[calls] = { ENTRY(read), ENTRY(pread), ENTRY(pread64), ENTRY(write), ENTRY(pwrite), ENTRY(pwrite64), ENTRY(ftruncate), ENTRY(unlink) };

// Replaces the calls only at exit, so that they cost nothing before.
static void hold_files(void) {
    sqlite3_vfs *system = sqlite3_vfs_find("unix");
    if (!system || system->iVersion < 3) return;
    for (int i = 0; i < calls; i++) {
        stock[i] = system->xGetSystemCall(system, held[i].name);
        if (stock[i]) system->xSetSystemCall(system, held[i].name, held[i].held);
    }
}

// MARK: - Threads in the middle of a page

// A thread that was running or waiting for a processor when the exit began.
typedef struct {
    long task;
    unsigned long long began; // its run time at that moment, in nanoseconds
} busy_thread;

static int read_task(long task, const char *name, char text[512]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/%s", task, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? 0 : read(file, text, 511);
    if (file >= 0) close(file);
    text[count < 0 ? 0 : count] = 0;
    return count > 0;
}

// Returns true if a thread is running, or waiting for a processor or a disk, and gets its run time. A thread
// that ends or sleeps is not busy: held threads sleep.
static int is_busy(long task, unsigned long long *time) {
    char text[512];
    const char *name_end = read_task(task, "stat", text) ? strrchr(text, ')') : NULL;
    if (!name_end || (name_end[2] != 'R' && name_end[2] != 'D')) return 0;
    if (!read_task(task, "schedstat", text)) return 0;
    *time = strtoull(text, NULL, 10);
    return 1;
}

// Waits until each busy thread sleeps, or has run long enough to finish the page that it was working on. This
// takes microseconds, but on a busy machine a thread may not be scheduled for milliseconds.
static void let_pages_end(void) {
    enum { most = 1000, page_time = 500 * 1000 /* nanoseconds */, tries = 1000 };
    static busy_thread busy[most];
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && count < most && (entry = readdir(tasks));) {
        busy[count].task = strtol(entry->d_name, NULL, 10);
        if (busy[count].task != 0 && busy[count].task != syscall(SYS_gettid) && is_busy(busy[count].task, &busy[count].began)) count++;
    }
    if (tasks) closedir(tasks);
    for (int i = 0; i < tries && count > 0; i++) {
        nanosleep(&(struct timespec) { 0, 1000 * 1000 }, NULL);
        for (int j = count - 1; j >= 0; j--) {
            unsigned long long time;
            if (!is_busy(busy[j].task, &time) || time - busy[j].began > page_time) busy[j] = busy[--count];
        }
    }
}

static void hold(void) {
    exiting_thread = pthread_self();
    atomic_store_explicit(&is_exiting, 1, memory_order_release);
    hold_files();
    let_pages_end();
}

void process_exit_hold_engine(void) {
    static atomic_flag is_registered = ATOMIC_FLAG_INIT;
    // This already ran when the program was loaded, and is harmless now. In a static library, this call
    // causes the function to be linked.
    process_exit_keep_libcrypto();
    if (sqlcipher_extra_shutdown && !atomic_flag_test_and_set(&is_registered)) atexit(hold);
}
