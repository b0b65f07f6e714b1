// Compares the provider with libcrypto on random pages, shares a memo between threads, forks, and searches
// the memory of the process for keys. Exits with 1 at the first fault.
//
//   page_provider_test SEED PAGES [TIME]    with TIME, prints the cost of a page of 4096 bytes
#define _GNU_SOURCE
#define SQLITE_HAS_CODEC 1
#include "page_provider.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <sqlcipher/sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The provider's interface to the engine: its functions, in order.
typedef int random_function(void *, void *, int);
typedef int hmac_function(void *, int, unsigned char *, int, unsigned char *, int, unsigned char *, int, unsigned char *);
typedef int cipher_function(void *, int, unsigned char *, int, unsigned char *, unsigned char *, int, unsigned char *);
typedef int context_function(void **);
extern void **sqlcipher_get_provider(void);
static random_function *draw;
static hmac_function *make_code;
static cipher_function *apply;
static context_function *begin, *end;

static void fail(const char *what) {
    printf("page provider: %s\n", what);
    fflush(stdout);
    // Other threads may still be running, so the libraries' exit handlers must not run.
    _exit(1);
}

static void fill(void *bytes, size_t count) {
    if (RAND_bytes(bytes, (int)count) != 1) fail("no random bytes");
}

static void *context_with(page_memo *memo) {
    void *context = NULL;
    page_provider_begin(memo);
    if (begin(&context) != SQLITE_OK || !context) fail("no context");
    page_provider_end();
    return context;
}

// MARK: - Against libcrypto

enum { largest = 65536 };

static const EVP_MD *digest(int algorithm) { return algorithm == 0 ? EVP_sha1() : algorithm == 1 ? EVP_sha256() : EVP_sha512(); }

// Tests one page: sealed, opened, opened again, and rejected with one bit changed.
static void compare(void *context, unsigned *seed, unsigned char keys[3][32], unsigned char *page, unsigned char *other, page_memo *memo) {
    static const int sizes[3] = { 20, 32, 64 };
    int algorithm = rand_r(seed) % 3, size = sizes[algorithm], page_size = 1024 << rand_r(seed) % 7;
    // On page 1, the content begins after the salt.
    int start = rand_r(seed) % 4 == 0 ? 16 : 0, covered = page_size - start - 64, length = covered - 16;
    // Usually one key, and sometimes more than two.
    unsigned char *key = keys[rand_r(seed) % 8 > 5 ? rand_r(seed) % 3 : 0], number[4], code[64], stored[64];
    unsigned expected_size = 0;
    int n = 0;
    fill(page, 64), fill(number, 4);
    if (draw(context, page + length, 80) != SQLITE_OK) fail("no random bytes");
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key, page + length);
    EVP_CIPHER_CTX_set_padding(cipher, 0);
    EVP_EncryptUpdate(cipher, other, &n, page, length);
    unsigned char *sealed = malloc((size_t)covered + 64);
    if (!sealed) fail("no memory");
    memcpy(sealed + length, page + length, 80);
    if (apply(context, 1, key, 32, sealed + length, page, length, sealed) != SQLITE_OK || memcmp(sealed, other, (size_t)length) != 0)
        fail("encryption differs");
    if (apply(context, 0, key, 32, sealed + length, sealed, length, other) != SQLITE_OK || memcmp(other, page, (size_t)length) != 0)
        fail("decryption differs");
    EVP_CIPHER_CTX_free(cipher);

    unsigned char *message = malloc((size_t)covered + 4);
    if (!message) fail("no memory");
    int place = 0, bit = 0;
    for (int round = 0; round < 6; round++) {
        int is_changed = round == 3 || round == 4, is_other_number = round == 5;
        // Makes the same change twice: a page that was rejected once is not known the second time.
        if (round != 4) place = rand_r(seed) % (covered + size), bit = 1 << rand_r(seed) % 8;
        if (is_changed) sealed[place] ^= bit;
        if (is_other_number) number[rand_r(seed) % 4] ^= bit;
        memcpy(message, sealed, (size_t)covered), memcpy(message + covered, number, 4);
        HMAC(digest(algorithm), key, 32, message, (size_t)covered + 4, stored, &expected_size);
        unsigned char *out = round == 0 ? sealed + covered : code;
        if (make_code(context, algorithm, key, 32, sealed, covered, number, 4, out) != SQLITE_OK) fail("no code");
        if (memcmp(out, stored, (size_t)size) != 0) fail("a code differs");
        if (is_changed) sealed[place] ^= bit;
        // Occasionally clears the memo that all threads share.
        if (memo && rand_r(seed) % 5000 == 0) page_memo_forget_all(memo);
    }
    free(message), free(sealed);
}

typedef struct {
    page_memo *memo;
    unsigned seed;
    long pages;
} share;

static unsigned char common_keys[3][32];

static void *work(void *argument) {
    share *mine = argument;
    void *context = context_with(mine->memo);
    unsigned char *page = malloc(largest), *other = malloc(largest);
    if (!page || !other) fail("no memory");
    for (long i = 0; i < mine->pages; i++) compare(context, &mine->seed, common_keys, page, other, mine->memo);
    free(page), free(other);
    end(&context);
    return NULL;
}

static void compare_in_threads(unsigned seed, long pages) {
    page_memo *memo = page_memo_make(1 << 16, largest);
    if (!memo) fail("no memo");
    fill(common_keys, sizeof common_keys);
    pthread_t threads[4];
    share shares[4];
    for (int i = 0; i < 4; i++) {
        // One of the threads has no memo.
        shares[i] = (share) { i ? memo : NULL, seed + (unsigned)i, pages / 4 };
        if (pthread_create(&threads[i], NULL, work, &shares[i]) != 0) fail("no thread");
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    if (page_memo_hits(memo) < (uint64_t)pages / 2) fail("pages were not known");
    page_memo_close(memo);
    if (!page_memo_is_blank(memo)) fail("a closed memo has tags");
    page_memo_release(memo);
}

// MARK: - Forks

// A child does not reuse random bytes that its parent has drawn.
static void fork_and_draw(void) {
    void *context = context_with(NULL);
    unsigned char first[80], parents[80], childs[80];
    draw(context, first, sizeof first);
    int ends[2];
    if (pipe(ends) != 0) fail("no pipe");
    pid_t child = fork();
    if (child == 0) {
        draw(context, childs, sizeof childs);
        _exit(write(ends[1], childs, sizeof childs) != sizeof childs);
    }
    draw(context, parents, sizeof parents);
    int status = 0;
    if (child < 0 || read(ends[0], childs, sizeof childs) != sizeof childs || waitpid(child, &status, 0) != child || status != 0) fail("no child");
    close(ends[0]), close(ends[1]);
    if (memcmp(parents, childs, sizeof childs) == 0) fail("a child draws the random bytes of its parent");
    end(&context);
}

// MARK: - Memory

static size_t key_bytes(void) {
    size_t locked, unlocked;
    page_memory_use(&locked, &unlocked);
    return locked + unlocked;
}

// A connection has a page for its states, and one for random bytes from the first draw on.
static void count_pages(void) {
    size_t before = key_bytes();
    void *context = context_with(NULL);
    if (key_bytes() != before + 4096) fail("a connection that draws nothing has other pages than that of its states");
    unsigned char drawn[80];
    for (int i = 0; i < 3; i++) draw(context, drawn, sizeof drawn);
    if (key_bytes() != before + 2 * 4096) fail("a connection that draws has no page for random bytes, or several");
    end(&context);
    if (key_bytes() != before) fail("pages of a closed connection are counted");
}

// MARK: - Keys in memory

// Returns the number of occurrences of 32 bytes in the writable memory of the process. Every byte of the
// pattern is masked.
static int occurrences(const unsigned char masked[32], unsigned char mask) {
    FILE *maps = fopen("/proc/self/maps", "r"), *memory = fopen("/proc/self/mem", "r");
    if (!maps || !memory) fail("the memory cannot be read");
    setvbuf(memory, NULL, _IONBF, 0);
    char line[512];
    int count = 0;
    static unsigned char piece[1 << 20];
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3 || strncmp(rights, "rw", 2) != 0) continue;
        // Skips the shadow memory of sanitizers, which spans terabytes of addresses.
        if (to - from > 1ul << 28) continue;
        for (unsigned long at = from; at < to; at += sizeof piece - 32) {
            size_t size = to - at < sizeof piece ? to - at : sizeof piece;
            if (fseek(memory, (long)at, SEEK_SET) != 0 || (size = fread(piece, 1, size, memory)) < 32) continue;
            for (size_t i = 0; i + 32 <= size; i++) {
                size_t j = 0;
                while (j < 32 && (piece[i + j] ^ mask) == masked[j]) j++;
                // Skips the copy that was just read into this buffer.
                if (j == 32 && !(at + i >= (unsigned long)piece && at + i < (unsigned long)piece + sizeof piece)) count++;
            }
            OPENSSL_cleanse(piece, size);
        }
    }
    fclose(maps), fclose(memory);
    return count;
}

static void look_for_keys(void) {
    enum { mask = 0xa5 };
    unsigned char masked[2][32], key[32], page[1024], code[64], number[4] = { 1 };
    page_memo *memo = page_memo_make(4096, 1024);
    void *context = context_with(memo);
    fill(masked, sizeof masked), fill(page, sizeof page);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 32; j++) key[j] = masked[i][j] ^ mask;
        if (i == 0) apply(context, 1, key, 32, page, page, 960, page);
        if (i == 1) make_code(context, 2, key, 32, page, 960, number, 4, code);
    }
    OPENSSL_cleanse(key, sizeof key);
    if (occurrences(masked[0], mask) == 0 || occurrences(masked[1], mask) == 0) fail("the search for keys finds none that is there");
    end(&context);
    page_memo_release(memo);
    for (int i = 0; i < 2; i++) {
        // The keys themselves, and combined with the pads of HMAC.
        if (occurrences(masked[i], mask) + occurrences(masked[i], mask ^ 0x36) + occurrences(masked[i], mask ^ 0x5c) != 0)
            fail("a key is left in memory");
    }
}

// MARK: - Time

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void measure(void) {
    enum { count = 2000 };
    static unsigned char pages[count][4096], out[4096], key[32];
    fill(pages, sizeof pages);
    page_memo *memo = page_memo_make(1 << 20, 4096);
    void *contexts[3] = { NULL, context_with(NULL), context_with(memo) };
    const char *names[3] = { "the engine's own", "kept states", "memo" };
    for (int i = 0; i < 3; i++) {
        double best[4] = { 1e9, 1e9, 1e9, 1e9 };
        for (int round = 0; round < 10; round++) {
            for (int step = 0; step < 4; step++) {
                double start = now();
                for (unsigned j = 0; j < count; j++) {
                    if (step == 0) draw(contexts[i], pages[j] + 4016, 80);
                    if (step == 1) apply(contexts[i], 1, key, 32, pages[j] + 4016, pages[j], 4016, out);
                    if (step == 2) make_code(contexts[i], 2, key, 32, pages[j], 4032, (unsigned char *)&j, 4, round ? out : pages[j] + 4032);
                    if (step == 3) apply(contexts[i], 0, key, 32, pages[j] + 4016, pages[j], 4016, out);
                }
                double time = (now() - start) / count;
                if (round > 1 && time < best[step]) best[step] = time;
                if (step == 0 && round < 9) for (unsigned j = 0; j < count; j++) make_code(contexts[i], 2, key, 32, pages[j], 4032, (unsigned char *)&j, 4, pages[j] + 4032);
            }
        }
        printf("%-18s random %4.0f ns, encrypt %4.0f, code %4.0f, decrypt %4.0f\n", names[i], best[0], best[1], best[2], best[3]);
    }
    for (int i = 1; i < 3; i++) end(&contexts[i]);
    page_memo_release(memo);
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    sqlite3 *db;
    const char *key = "x'0000000000000000000000000000000000000000000000000000000000000000'";
    if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_key(db, key, (int)strlen(key)) != SQLITE_OK) fail("no engine");
    sqlite3_stmt *statement;
    sqlite3_prepare_v2(db, "PRAGMA cipher_version", -1, &statement, NULL);
    sqlite3_step(statement);
    page_provider_outcome outcome = page_provider_install((const char *)sqlite3_column_text(statement, 0));
    printf("page provider: SQLCipher %s\n", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    if (outcome == page_provider_unknown || outcome == page_provider_hidden) {
        printf("page provider: skipped, this engine is left to its own provider\n");
        return 0;
    }
    if (outcome != page_provider_installed) fail("the provider was not installed");
    void **functions = sqlcipher_get_provider();
    draw = (random_function *)functions[4];
    make_code = (hmac_function *)functions[5];
    apply = (cipher_function *)functions[7];
    begin = (context_function *)functions[13];
    end = (context_function *)functions[14];
    count_pages();
    fork_and_draw();
    look_for_keys();
    compare_in_threads((unsigned)atoi(arguments[1]), atol(arguments[2]));
    if (count > 3) measure();
    sqlite3_close(db);
    printf("page provider: %s pages as libcrypto has them\n", arguments[2]);
    return 0;
}
