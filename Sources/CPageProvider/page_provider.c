#define _GNU_SOURCE
#include "page_memo_internal.h"
#include "process_exit.h"
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

// MARK: - Declarations of src/sqlcipher.h, which the engine does not install

typedef struct {
    // activate and deactivate before 4.7, which are never NULL; init and shutdown since then, which are NULL
    // in the engine's own provider.
    void (*start)(void);
    void (*end)(void);
    const char *(*get_provider_name)(void *context);
    int (*add_random)(void *context, void *buffer, int length);
    int (*random)(void *context, void *buffer, int length);
    int (*hmac)(void *context, int algorithm, unsigned char *key, int key_size, unsigned char *in, int in_size, unsigned char *in2, int in2_size,
        unsigned char *out);
    int (*kdf)(void *context, int algorithm, const unsigned char *pass, int pass_size, unsigned char *salt, int salt_size, int work, int key_size,
        unsigned char *key);
    int (*cipher)(void *context, int mode, unsigned char *key, int key_size, unsigned char *iv, unsigned char *in, int in_size,
        unsigned char *out);
    const char *(*get_cipher)(void *context);
    int (*get_key_size)(void *context);
    int (*get_iv_size)(void *context);
    int (*get_block_size)(void *context);
    int (*get_hmac_size)(void *context, int algorithm);
    int (*context_init)(void **context);
    int (*context_free)(void **context);
    int (*fips_status)(void *context);
    const char *(*get_provider_version)(void *context);
    void *next; // Since 4.7 only.
} engine_provider;

// NULL if the engine does not export them.
extern int sqlcipher_register_provider(engine_provider *) __attribute__((weak));
extern engine_provider *sqlcipher_get_provider(void) __attribute__((weak));
extern void *sqlcipher_malloc(unsigned long long) __attribute__((weak));
extern void sqlcipher_free(void *, unsigned long long) __attribute__((weak));

enum { engine_ok = 0, engine_error = 1, engine_no_memory = 7 };
enum { key_size = 32, iv_size = 16, most_code = 64, decrypting = 0, encrypting = 1 };

// The engine's numbers for HMAC-SHA1, -SHA256 and -SHA512.
static const char *const digests[3] = { "SHA1", "SHA256", "SHA512" };
static const int code_sizes[3] = { 20, 32, 64 };

// The versions whose layouts were read in src/sqlcipher.h. Tests/page-provider has tested the oldest and
// newest engine of each, and some in between.
typedef struct {
    int first, last; // minor versions of 4.x
    int has_start;
    size_t size;
} engine_layout;

static const engine_layout layouts[] = {
    { 5, 6, 1, offsetof(engine_provider, next) },
    { 7, 19, 0, sizeof(engine_provider) },
};

static engine_provider stock;

// MARK: - State that is kept for a connection

typedef struct {
    EVP_MAC_CTX *state; // NULL: unused
    // The data that a tag covers in addition to the page itself.
    struct {
        uint8_t number[4], algorithm[4];
        uint64_t size;
        uint8_t key[key_size];
    } identity;
} code_slot;

typedef struct {
    EVP_CIPHER_CTX *states[2]; // by mode; NULL: unused
    uint8_t key[key_size];
} cipher_slot;

// A connection has two keys while its key is being changed in place.
enum { slots = 2 };

// Random bytes, on separate pages that read as zeros in a forked child, which then draws its own.
typedef struct {
    size_t left;
    uint8_t bytes[4096 - sizeof(size_t)];
} random_store;

typedef struct {
    page_memo *memo; // NULL: none
    code_slot codes[slots];
    cipher_slot ciphers[slots];
    int next_code, next_cipher;
    random_store *random; // NULL: made at the first draw, because connections that only read have none
    int is_locked, is_random_locked, is_random_refused;
} kept;

static const size_t kept_size = (sizeof(kept) + 4095) / 4096 * 4096;

typedef struct {
    int is_wanted;
    page_memo *memo;
} wish;

static _Thread_local wish next;

void page_provider_begin(page_memo *memo) { next = (wish) { 1, memo }; }

void page_provider_end(void) { next = (wish) { 0, NULL }; }

static void *own_pages(size_t size, int *is_locked) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    *is_locked = page_memory_begin(memory, size, size);
    return memory;
}

static void give_back(void *memory, size_t size, int is_locked) {
    if (!memory) return;
    page_memory_end(size, is_locked);
    OPENSSL_cleanse(memory, size);
    munmap(memory, size);
}

static EVP_MAC_CTX *make_state(const char *name) {
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, name, NULL);
    EVP_MAC_CTX *state = algorithm ? EVP_MAC_CTX_new(algorithm) : NULL;
    EVP_MAC_free(algorithm);
    return state;
}

static void free_kept(kept *kept) {
    if (!kept) return;
    for (int i = 0; i < slots; i++) {
        EVP_MAC_CTX_free(kept->codes[i].state);
        EVP_CIPHER_CTX_free(kept->ciphers[i].states[0]);
        EVP_CIPHER_CTX_free(kept->ciphers[i].states[1]);
    }
    if (kept->memo) page_memo_release(kept->memo);
    give_back(kept->random, sizeof *kept->random, kept->is_random_locked);
    give_back(kept, kept_size, kept->is_locked);
}

static kept *make_kept(page_memo *memo) {
    int is_locked;
    kept *made = own_pages(kept_size, &is_locked);
    if (!made) return NULL;
    made->is_locked = is_locked;
    if (memo) {
        page_memo_retain(memo);
        made->memo = memo;
    }
    return made;
}

// An engine context is a `kept`, or NULL if the connection uses the engine's own provider, which has no
// context.
static int context_init(void **context) {
    *context = NULL;
    if (!process_exit_allows()) return engine_error;
    int code = stock.context_init(context);
    if (code != engine_ok) return code;
    if (*context) return engine_error; // Not the provider whose layout was read.
    if (!next.is_wanted) return engine_ok;
    // If memory is exhausted, the connection uses the engine's own provider.
    *context = make_kept(next.memo);
    return engine_ok;
}

static int context_free(void **context) {
    free_kept(*context);
    *context = NULL;
    return stock.context_free(context);
}

// MARK: - Random bytes

// Returns NULL if there is no memory, or if the kernel does not guarantee that a child does not inherit the
// bytes.
static random_store *random_store_of(kept *kept) {
    if (kept->random || kept->is_random_refused) return kept->random;
    kept->random = own_pages(sizeof *kept->random, &kept->is_random_locked);
    if (kept->random && madvise(kept->random, sizeof *kept->random, MADV_WIPEONFORK) != 0) {
        give_back(kept->random, sizeof *kept->random, kept->is_random_locked);
        kept->random = NULL;
        kept->is_random_refused = 1;
    }
    return kept->random;
}

// The engine calls this before it uses the key of a page that it writes.
static int random_bytes(void *context, void *buffer, int length) {
    kept *kept = context;
    if (!process_exit_allows()) return engine_error;
    random_store *store = kept && 0 < length && length <= 1024 ? random_store_of(kept) : NULL;
    if (!store) return stock.random(NULL, buffer, length);
    if (store->left < (size_t)length) {
        store->left = 0;
        if (RAND_bytes(store->bytes, sizeof store->bytes) != 1) return engine_error;
        store->left = sizeof store->bytes;
    }
    // Take bytes from the end, so that the remaining ones stay at the start, and wipe the bytes handed out.
    store->left -= (size_t)length;
    memcpy(buffer, store->bytes + store->left, (size_t)length);
    OPENSSL_cleanse(store->bytes + store->left, (size_t)length);
    return engine_ok;
}

// MARK: - MACs

// Returns a state with this key, or NULL.
static code_slot *code_slot_for(kept *kept, int algorithm, const uint8_t *key) {
    for (int i = 0; i < slots; i++) {
        code_slot *slot = &kept->codes[i];
        if (slot->state && slot->identity.algorithm[0] == algorithm && CRYPTO_memcmp(slot->identity.key, key, key_size) == 0) return slot;
    }
    code_slot *slot = &kept->codes[kept->next_code];
    kept->next_code = (kept->next_code + 1) % slots;
    EVP_MAC_CTX_free(slot->state);
    memset(&slot->identity, 0, sizeof slot->identity);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digests[algorithm], 0),
        OSSL_PARAM_construct_end(),
    };
    slot->state = make_state("HMAC");
    if (slot->state && EVP_MAC_init(slot->state, key, key_size, parameters) != 1) {
        EVP_MAC_CTX_free(slot->state);
        slot->state = NULL;
    }
    if (!slot->state) return NULL;
    slot->identity.algorithm[0] = (uint8_t)algorithm;
    memcpy(slot->identity.key, key, key_size);
    return slot;
}

static int make_code(code_slot *slot, const uint8_t *in, size_t in_size, const uint8_t number[4], uint8_t *out, size_t size) {
    size_t length = 0;
    // Without a key argument, EVP_MAC_init restarts with the current key.
    return EVP_MAC_init(slot->state, NULL, 0, NULL) == 1 && EVP_MAC_update(slot->state, in, in_size) == 1
        && EVP_MAC_update(slot->state, number, 4) == 1 && EVP_MAC_final(slot->state, out, &length, size) == 1 && length == size;
}

// Computes the tag of a page with its MAC, its number, and the MAC's key and algorithm.
static int make_tag(kept *kept, code_slot *slot, const uint8_t *in, size_t size, const uint8_t number[4], uint8_t tag[page_memo_tag_size]) {
    _Static_assert(sizeof slot->identity == page_memo_identity_size, "there are no bytes between its members");
    memcpy(slot->identity.number, number, 4);
    slot->identity.size = size;
    // The engine reserves a multiple of 16 bytes at the end of a page, so the bytes after a shorter MAC
    // belong to the page as well.
    return page_memo_tag(kept->memo, in, (size + 15) / 16 * 16, (const uint8_t *)&slot->identity, tag);
}

// The engine computes a MAC in three places. In each, the page's stored MAC follows the covered bytes. When a
// page is opened or checked, `out` is a separate buffer for the comparison. When a page is sealed, `out` is
// the place of the stored MAC.
static int code_of_page(void *context, int algorithm, unsigned char *key, int size_of_key, unsigned char *in, int in_size, unsigned char *in2,
    int in2_size, unsigned char *out) {
    kept *kept = context;
    int is_page = kept && algorithm >= 0 && algorithm < 3 && key && size_of_key == key_size && in && in_size > 0 && in2 && in2_size == 4;
    code_slot *slot = is_page ? code_slot_for(kept, algorithm, key) : NULL;
    if (!slot) return stock.hmac(NULL, algorithm, key, size_of_key, in, in_size, in2, in2_size, out);
    size_t size = (size_t)code_sizes[algorithm], covered = (size_t)in_size;
    const uint8_t *stored = in + covered;
    int is_sealed = out == stored, has_tag = 0;
    uint8_t tag[page_memo_tag_size];
    uint32_t number;
    memcpy(&number, in2, sizeof number);
    if (kept->memo && !is_sealed) {
        has_tag = make_tag(kept, slot, in, covered + size, in2, tag);
        if (has_tag && page_memo_knows(kept->memo, number, tag)) {
            memcpy(out, stored, size);
            return engine_ok;
        }
    }
    if (!make_code(slot, in, covered, in2, out, size)) return engine_error;
    if (kept->memo && is_sealed) has_tag = make_tag(kept, slot, in, covered + size, in2, tag);
    // Only authentic pages are noted.
    if (has_tag && CRYPTO_memcmp(stored, out, size) == 0) page_memo_note(kept->memo, number, tag);
    return engine_ok;
}

// The engine unmasks the key before this call, and masks it again afterwards.
static int hmac(void *context, int algorithm, unsigned char *key, int size_of_key, unsigned char *in, int in_size, unsigned char *in2,
    int in2_size, unsigned char *out) {
    process_exit_stop();
    int code = code_of_page(context, algorithm, key, size_of_key, in, in_size, in2, in2_size, out);
    process_exit_stop();
    return code;
}

// MARK: - Encryption

static cipher_slot *cipher_slot_for(kept *kept, const uint8_t *key) {
    for (int i = 0; i < slots; i++) {
        cipher_slot *slot = &kept->ciphers[i];
        if (slot->states[0] && CRYPTO_memcmp(slot->key, key, key_size) == 0) return slot;
    }
    cipher_slot *slot = &kept->ciphers[kept->next_cipher];
    kept->next_cipher = (kept->next_cipher + 1) % slots;
    int is_ready = 1;
    for (int mode = decrypting; mode <= encrypting; mode++) {
        EVP_CIPHER_CTX_free(slot->states[mode]);
        slot->states[mode] = EVP_CIPHER_CTX_new();
        is_ready = is_ready && slot->states[mode] && EVP_CipherInit_ex(slot->states[mode], EVP_aes_256_cbc(), NULL, key, NULL, mode) == 1
            && EVP_CIPHER_CTX_set_padding(slot->states[mode], 0) == 1;
    }
    memcpy(slot->key, key, key_size);
    if (is_ready) return slot;
    for (int mode = decrypting; mode <= encrypting; mode++) {
        EVP_CIPHER_CTX_free(slot->states[mode]);
        slot->states[mode] = NULL;
    }
    return NULL;
}

static int apply_cipher(void *context, int mode, unsigned char *key, int size_of_key, unsigned char *iv, unsigned char *in, int in_size,
    unsigned char *out) {
    kept *kept = context;
    int is_page = kept && (mode == decrypting || mode == encrypting) && key && size_of_key == key_size && iv && in_size > 0;
    cipher_slot *slot = is_page ? cipher_slot_for(kept, key) : NULL;
    if (!slot) return stock.cipher(NULL, mode, key, size_of_key, iv, in, in_size, out);
    int length = 0;
    int is_done = EVP_CipherInit_ex(slot->states[mode], NULL, NULL, NULL, iv, mode) == 1
        && EVP_CipherUpdate(slot->states[mode], out, &length, in, in_size) == 1 && length == in_size;
    return is_done ? engine_ok : engine_error;
}

static int cipher(void *context, int mode, unsigned char *key, int size_of_key, unsigned char *iv, unsigned char *in, int in_size,
    unsigned char *out) {
    process_exit_stop();
    int code = apply_cipher(context, mode, key, size_of_key, iv, in, in_size, out);
    process_exit_stop();
    return code;
}

// MARK: - Installation

static const engine_layout *layout_of(const char *cipher_version) {
    int major, minor, patch, length = 0;
    if (sscanf(cipher_version, "%d.%d.%d community%n", &major, &minor, &patch, &length) != 3 || major != 4) return NULL;
    if (length == 0 || cipher_version[length] != 0) return NULL;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].first <= minor && minor <= layouts[i].last) return &layouts[i];
    return NULL;
}

int page_provider_knows(const char *cipher_version) { return layout_of(cipher_version) != NULL; }

enum { test_page = 1024 };

// Verifies the MACs of one algorithm, where they are sealed and where they are compared, for an intact page
// and for one with changed bits.
static int has_right_code(kept *kept, int algorithm, uint8_t *key, uint8_t page[test_page], uint8_t number[4]) {
    int size = code_sizes[algorithm], covered = test_page - most_code;
    uint8_t expected[most_code], found[most_code];
    if (stock.hmac(NULL, algorithm, key, key_size, page, covered, number, 4, expected) != engine_ok) return 0;
    if (hmac(kept, algorithm, key, key_size, page, covered, number, 4, page + covered) != engine_ok) return 0;
    if (memcmp(page + covered, expected, (size_t)size) != 0) return 0;
    for (int look = 0; look < 6; look++) {
        // Check the sealed page, then with a changed bit of content, then with a changed bit of its MAC as
        // well, each twice. None of these may be mistaken for another.
        if (look == 2) page[7] ^= 0x10;
        if (look == 4) page[covered + size - 1] ^= 0x01;
        if (stock.hmac(NULL, algorithm, key, key_size, page, covered, number, 4, expected) != engine_ok) return 0;
        if (hmac(kept, algorithm, key, key_size, page, covered, number, 4, found) != engine_ok) return 0;
        if (memcmp(found, expected, (size_t)size) != 0) return 0;
    }
    return 1;
}

static int ciphers_as_stock(kept *kept, uint8_t *key, uint8_t page[test_page]) {
    uint8_t iv[iv_size], expected[test_page], found[test_page];
    if (RAND_bytes(iv, sizeof iv) != 1) return 0;
    for (int mode = decrypting; mode <= encrypting; mode++) {
        if (stock.cipher(NULL, mode, key, key_size, iv, page, test_page, expected) != engine_ok) return 0;
        if (cipher(kept, mode, key, key_size, iv, page, test_page, found) != engine_ok) return 0;
        if (memcmp(found, expected, test_page) != 0) return 0;
    }
    return 1;
}

static int is_right(void) {
    uint8_t keys[3][key_size], page[test_page], number[4], drawn[2][80];
    page_memo *memo = page_memo_make(0, test_page);
    kept *kept = make_kept(memo);
    int is_right = kept != NULL && RAND_bytes((uint8_t *)keys, sizeof keys) == 1;
    // Three alternating keys make both slots be reused.
    for (int i = 0; i < 9 && is_right; i++) {
        is_right = RAND_bytes(page, sizeof page) == 1 && RAND_bytes(number, sizeof number) == 1 && ciphers_as_stock(kept, keys[i % 3], page)
            && has_right_code(kept, i / 3, keys[i % 3], page, number);
    }
    is_right = is_right && random_bytes(kept, drawn[0], 80) == engine_ok && random_bytes(kept, drawn[1], 80) == engine_ok
        && memcmp(drawn[0], drawn[1], 80) != 0;
    free_kept(kept);
    if (memo) page_memo_release(memo);
    OPENSSL_cleanse(keys, sizeof keys);
    return is_right;
}

page_provider_outcome page_provider_install(const char *cipher_version) {
    if (!sqlcipher_register_provider || !sqlcipher_get_provider || !sqlcipher_malloc || !sqlcipher_free) return page_provider_hidden;
    const engine_layout *layout = layout_of(cipher_version);
    if (!layout) return page_provider_unknown;
    engine_provider *current = sqlcipher_get_provider();
    if (!current) return page_provider_foreign;
    // A version that was changed before its release may have a different layout than its number implies.
    if ((current->start != NULL) != layout->has_start || (current->end != NULL) != layout->has_start) return page_provider_unknown;
    if (strcmp(current->get_provider_name(NULL), "openssl") != 0) return page_provider_foreign;
    memcpy(&stock, current, layout->size);
    int is_expected = stock.get_key_size(NULL) == key_size && stock.get_iv_size(NULL) == iv_size && stock.get_block_size(NULL) == 16;
    for (int i = 0; i < 3; i++) is_expected = is_expected && stock.get_hmac_size(NULL, i) == code_sizes[i];
    if (!is_expected || !is_right()) return page_provider_wrong;
    // Use the engine's allocator, because the engine frees the provider.
    engine_provider *provider = sqlcipher_malloc(layout->size);
    if (!provider) return page_provider_no_memory;
    memcpy(provider, &stock, layout->size);
    provider->random = random_bytes;
    provider->hmac = hmac;
    provider->cipher = cipher;
    provider->context_init = context_init;
    provider->context_free = context_free;
    sqlcipher_register_provider(provider);
    return page_provider_installed;
}
