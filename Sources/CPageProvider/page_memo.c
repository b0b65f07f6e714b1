#define _GNU_SOURCE
#include "page_memo_internal.h"
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

// With 32 stripes, the header of a memo for pages of 4096 bytes fits into two pages.
enum { ways = 2, stripe_count = 32, least = 4096, tag_size = page_memo_tag_size };

// The tags of the pages that share a bucket, newest first. A bucket is one cache line.
typedef struct {
    uint8_t tags[ways][tag_size];
} bucket;

typedef struct {
    pthread_mutex_t mutex;
    uint64_t hits;
} __attribute__((aligned(64))) stripe;

struct page_memo {
    atomic_int references;
    atomic_int is_open;
    int is_locked;
    size_t mapped, bucket_count;
    bucket *buckets;
    stripe stripes[stripe_count];
    // The key has as many words as the longest message, plus two, because the second sum uses the key from
    // the third word on.
    size_t header, longest;
    uint64_t key[];
};

static atomic_size_t locked_bytes, unlocked_bytes;

int page_memory_begin(void *memory, size_t locked_size, size_t size) {
    int is_locked = mlock(memory, locked_size) == 0;
    (void)madvise(memory, size, MADV_DONTDUMP);
    atomic_fetch_add_explicit(is_locked ? &locked_bytes : &unlocked_bytes, locked_size, memory_order_relaxed);
    return is_locked;
}

void page_memory_end(size_t locked_size, int is_locked) {
    atomic_fetch_sub_explicit(is_locked ? &locked_bytes : &unlocked_bytes, locked_size, memory_order_relaxed);
}

void page_memory_use(size_t *locked, size_t *unlocked) {
    *locked = atomic_load_explicit(&locked_bytes, memory_order_relaxed);
    *unlocked = atomic_load_explicit(&unlocked_bytes, memory_order_relaxed);
}

page_memo *page_memo_make(size_t bytes, size_t page_size) {
    size_t table = least;
    while (table <= bytes / 2) table *= 2;
    size_t longest = page_size + page_memo_identity_size, key_size = longest + 2 * sizeof(uint64_t);
    size_t header = (sizeof(struct page_memo) + key_size + 4095) / 4096 * 4096;
    // Memory that was never written is not allocated, so a small file has a small memo.
    page_memo *memo = mmap(NULL, header + table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memo == MAP_FAILED) return NULL;
    memo->is_locked = page_memory_begin(memo, header, header + table);
    memo->mapped = header + table;
    memo->header = header;
    memo->longest = longest;
    memo->bucket_count = table / sizeof(bucket);
    memo->buckets = (bucket *)((uint8_t *)memo + header);
    atomic_init(&memo->references, 1);
    atomic_init(&memo->is_open, 1);
    for (int i = 0; i < stripe_count; i++) pthread_mutex_init(&memo->stripes[i].mutex, NULL);
    if (RAND_priv_bytes((uint8_t *)memo->key, (int)key_size) == 1) return memo;
    page_memo_release(memo);
    return NULL;
}

void page_memo_retain(page_memo *memo) { atomic_fetch_add_explicit(&memo->references, 1, memory_order_relaxed); }

void page_memo_release(page_memo *memo) {
    if (atomic_fetch_sub_explicit(&memo->references, 1, memory_order_acq_rel) > 1) return;
    for (int i = 0; i < stripe_count; i++) pthread_mutex_destroy(&memo->stripes[i].mutex);
    // The tags are not wiped: their pages return to the system, which does not pass their content on.
    size_t mapped = memo->mapped;
    page_memory_end(memo->header, memo->is_locked);
    OPENSSL_cleanse(memo, memo->header);
    munmap(memo, mapped);
}

// MARK: - Tags

typedef unsigned __int128 sum;

// Multiplies two words of the message, after adding two words of the key.
static inline sum product(uint64_t a, uint64_t b, const uint64_t *key) { return (sum)(a + key[0]) * (b + key[1]); }

// Computes NH from UMAC (RFC 4418, 5.2) with words of 64 bits, twice, with overlapping keys as in a Toeplitz
// matrix. The time of products and sums does not depend on the data. `size`: a multiple of 16.
static void add(sum sums[2], const uint8_t *bytes, size_t size, const uint64_t *key) {
    sum first = sums[0], second = sums[1];
    for (size_t offset = 0; offset < size; offset += 16, key += 2) {
        uint64_t words[2];
        memcpy(words, bytes + offset, sizeof words);
        first += product(words[0], words[1], key);
        second += product(words[0], words[1], key + 2);
    }
    sums[0] = first;
    sums[1] = second;
}

int page_memo_tag(const page_memo *memo, const uint8_t *page, size_t size, const uint8_t identity[page_memo_identity_size], uint8_t *tag) {
    static const uint8_t zeros[16];
    if (size % 16 != 0 || size + page_memo_identity_size > memo->longest) return 0;
    sum sums[2] = { 0, 0 };
    const uint64_t *key = memo->key;
    add(sums, identity, page_memo_identity_size, key);
    key += page_memo_identity_size / sizeof *key;
    add(sums, page, size, key);
    key += size / sizeof *key;
    // Pad with zeros: the collision bound holds for messages of equal length, and page 1 is shorter because
    // it begins after the salt.
    for (size_t length = page_memo_identity_size + size; length < memo->longest; length += 16, key += 2) add(sums, zeros, 16, key);
    memcpy(tag, sums, tag_size);
    return 1;
}

// MARK: - Pages

// Consecutive pages get consecutive buckets, for either byte order of their numbers, so the memo of a small
// file is small.
static size_t place(const page_memo *memo, uint32_t number) { return (number ^ __builtin_bswap32(number)) & (memo->bucket_count - 1); }

static int is_zero(const uint8_t *tag) {
    static const uint8_t zeros[tag_size];
    return CRYPTO_memcmp(tag, zeros, sizeof zeros) == 0;
}

int page_memo_knows(page_memo *memo, uint32_t number, const uint8_t *tag) {
    size_t index = place(memo, number);
    stripe *stripe = &memo->stripes[index % stripe_count];
    int is_known = 0;
    pthread_mutex_lock(&stripe->mutex);
    for (int i = 0; i < ways; i++) is_known |= CRYPTO_memcmp(memo->buckets[index].tags[i], tag, tag_size) == 0;
    // Zeros mark unused places.
    is_known &= !is_zero(tag);
    stripe->hits += (uint64_t)is_known;
    pthread_mutex_unlock(&stripe->mutex);
    return is_known;
}

void page_memo_note(page_memo *memo, uint32_t number, const uint8_t *tag) {
    size_t index = place(memo, number);
    stripe *stripe = &memo->stripes[index % stripe_count];
    pthread_mutex_lock(&stripe->mutex);
    // Checked under the lock that closing takes, so a closed memo stays blank.
    if (atomic_load_explicit(&memo->is_open, memory_order_relaxed)) {
        bucket *bucket = &memo->buckets[index];
        memmove(bucket->tags[1], bucket->tags[0], sizeof bucket->tags - sizeof bucket->tags[0]);
        memcpy(bucket->tags[0], tag, tag_size);
    }
    pthread_mutex_unlock(&stripe->mutex);
}

// MARK: - The whole memo

static void lock_all(page_memo *memo) {
    for (int i = 0; i < stripe_count; i++) pthread_mutex_lock(&memo->stripes[i].mutex);
}

static void unlock_all(page_memo *memo) {
    for (int i = 0; i < stripe_count; i++) pthread_mutex_unlock(&memo->stripes[i].mutex);
}

void page_memo_forget_all(page_memo *memo) {
    size_t size = memo->bucket_count * sizeof(bucket);
    lock_all(memo);
    // Pages that were returned to the system read as zeros. This fails if the program locks all of its
    // memory.
    if (madvise(memo->buckets, size, MADV_DONTNEED) != 0) OPENSSL_cleanse(memo->buckets, size);
    unlock_all(memo);
}

void page_memo_close(page_memo *memo) {
    atomic_store_explicit(&memo->is_open, 0, memory_order_relaxed);
    page_memo_forget_all(memo);
}

uint64_t page_memo_hits(page_memo *memo) {
    uint64_t hits = 0;
    lock_all(memo);
    for (int i = 0; i < stripe_count; i++) hits += memo->stripes[i].hits;
    unlock_all(memo);
    return hits;
}

size_t page_memo_count(page_memo *memo) {
    size_t count = 0;
    lock_all(memo);
    for (size_t i = 0; i < memo->bucket_count; i++)
        for (int way = 0; way < ways; way++) count += !is_zero(memo->buckets[i].tags[way]);
    unlock_all(memo);
    return count;
}

int page_memo_is_blank(page_memo *memo) { return page_memo_count(memo) == 0; }
