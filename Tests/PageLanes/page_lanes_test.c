// Compares the lanes with libcrypto on random messages of random sizes, offsets and counts. Exits with 1 at
// the first difference.
//
//   page_lanes_test SEED PAGES [TIME]    with TIME, prints the cost of a page of 4096 bytes
#include "page_lanes.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { largest = 65536, stride = largest + 128 };

static uint64_t state;

// xorshift64: fast, and deterministic for a seed.
static uint64_t random_word(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static size_t below(size_t limit) { return random_word() % limit; }

static void fill(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i += 8) {
        uint64_t word = random_word();
        memcpy(bytes + i, &word, count - i < 8 ? count - i : 8);
    }
}

static void *allocate(size_t count) {
    void *bytes = malloc(count);
    if (!bytes) exit(2);
    return bytes;
}

static void differ(const char *what, int kind, size_t count, size_t lane, size_t length) {
    printf("page lanes: %s differs from libcrypto: kind %d, lane %zu of %zu, %zu bytes\n", what, kind, lane, count, length);
    exit(1);
}

// Compares one batch. Every buffer has exactly the required size, so a sanitizer detects any overrun.
static void compare(int kind, size_t count, size_t length, size_t step) {
    uint8_t *input = allocate(step * count), *output = allocate(step * count), *ivs = allocate(step * count);
    uint8_t *expected = allocate(length), *opened = allocate(length), *whole = allocate(length + 4);
    uint8_t tails[8 * 4], codes[8 * 64], key[128], code[64];
    fill(input, step * count), fill(ivs, step * count), fill(tails, sizeof tails), fill(key, sizeof key);
    size_t key_size = below(2) ? 32 : 32 + below(97);

    page_lanes_code_key code_key;
    page_lanes_code_key_init(&code_key, key, key_size);
    size_t hashed = length - below(below(2) ? 1 : length + 1);
    page_lanes_codes(kind, &code_key, count, input, step, hashed, tails, codes);
    page_lanes_cipher_key cipher_key;
    page_lanes_cipher_key_init(&cipher_key, key);
    page_lanes_encrypt(kind, &cipher_key, count, ivs, input, output, step, length);

    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    for (size_t i = 0; i < count; i++) {
        unsigned code_size = 0;
        memcpy(whole, input + i * step, hashed);
        memcpy(whole + hashed, tails + 4 * i, 4);
        HMAC(EVP_sha512(), key, (int)key_size, whole, hashed + 4, code, &code_size);
        if (code_size != 64 || memcmp(code, codes + 64 * i, 64)) differ("a code", kind, count, i, hashed);
        int size = 0;
        EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key, ivs + i * step);
        EVP_CIPHER_CTX_set_padding(cipher, 0);
        if (length > 0) EVP_EncryptUpdate(cipher, expected, &size, input + i * step, (int)length);
        if ((size_t)size != length || memcmp(expected, output + i * step, length)) differ("encryption", kind, count, i, length);
        page_lanes_decrypt(kind, &cipher_key, ivs + i * step, output + i * step, opened, length);
        if (memcmp(opened, input + i * step, length)) differ("decryption", kind, count, i, length);
    }
    EVP_CIPHER_CTX_free(cipher);
    free(input), free(output), free(ivs), free(expected), free(opened), free(whole);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void measure(int kind) {
    static uint8_t input[8 * 4096], output[8 * 4096], ivs[8 * 4096], tails[32], codes[8 * 64], key[32];
    page_lanes_code_key code_key;
    page_lanes_code_key_init(&code_key, key, sizeof key);
    page_lanes_cipher_key cipher_key;
    page_lanes_cipher_key_init(&cipher_key, key);
    int rounds = 20000;
    double start = now();
    for (int i = 0; i < rounds; i++) page_lanes_codes(kind, &code_key, 8, input, 4096, 4032, tails, codes);
    double coded = now();
    for (int i = 0; i < rounds; i++) page_lanes_encrypt(kind, &cipher_key, 8, ivs, input, output, 4096, 4016);
    double encrypted = now();
    for (int i = 0; i < rounds * 8; i++) page_lanes_decrypt(kind, &cipher_key, ivs, output, input, 4016);
    double pages = rounds * 8 / 1e9;
    printf("kind %d: code %.0f ns, encryption %.0f ns, decryption %.0f ns a page of 4096 bytes\n", kind, (coded - start) / pages,
        (encrypted - coded) / pages, (now() - encrypted) / pages);
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    state = strtoull(arguments[1], NULL, 10) * 2 + 1;
    long long wanted = atoll(arguments[2]), pages = 0;
    int best = page_lanes_best();
    if (best == page_lanes_none) {
        printf("page lanes: skipped, this processor has none\n");
        return 0;
    }
    while (pages < wanted) {
        // Usually the content of a page of 512 to 65536 bytes, with a preference for small ones, otherwise
        // any number of blocks.
        size_t lanes = 1 + below(page_lanes_most), page = (size_t)512 << below(1 + below(8));
        size_t length = below(8) ? page - 80 : 16 * below(largest / 16 + 1);
        size_t step = below(8) ? (length > page ? length : page) : length + below(128);
        compare(1 + (int)below((size_t)best), lanes, length, step < 16 ? 16 : step);
        pages += (long long)lanes;
    }
    printf("page lanes: %lld pages are as libcrypto makes them\n", pages);
    if (count > 3) {
        for (int kind = 1; kind <= best; kind++) measure(kind);
    }
    return 0;
}
