// HMAC-SHA512 and AES-256-CBC for several pages at once, by the vector instructions of the processor.
//
// A SHA-512 of one page is a chain of dependent operations, and so is its encryption in CBC mode: one page at
// a time leaves most of the processor idle. Here each page has a lane of the vector registers. There are no
// branches and no addresses that depend on keys or data: rounds of AES are instructions, the table of SHA-512
// is read in its order.
//
// Where the processor lacks the instructions, `page_lanes_best` returns `page_lanes_none`, and none of the
// other functions but `page_lanes_code_key_init` may be called: the caller uses libcrypto.
#ifndef COFFER_PAGE_LANES_H
#define COFFER_PAGE_LANES_H

#include <stddef.h>
#include <stdint.h>

// The most pages that one call takes.
enum { page_lanes_most = 8 };

typedef enum {
    page_lanes_none = 0,
    page_lanes_avx2 = 1,   // AVX2 and AES-NI: four pages are hashed at once
    page_lanes_avx512 = 2, // AVX-512 and VAES: eight pages are hashed at once
} page_lanes_kind;

// The best kind that this processor and its operating system have.
page_lanes_kind page_lanes_best(void);

// What HMAC-SHA512 makes of its key: the states of the inner and of the outer hash after their first block.
// As secret as the key.
typedef struct {
    uint64_t inner[8], outer[8];
} page_lanes_code_key;

// `size`: at most 128.
void page_lanes_code_key_init(page_lanes_code_key *key, const uint8_t *bytes, size_t size);

// The codes of `count` messages (1 to `page_lanes_most`), each of `length` bytes, `stride` bytes behind the
// one before, and a tail of 4 bytes of its own. `tails`: 4 bytes for each message; `codes`: 64 bytes for
// each.
void page_lanes_codes(page_lanes_kind kind, const page_lanes_code_key *key, size_t count, const uint8_t *messages, size_t stride,
    size_t length, const uint8_t *tails, uint8_t *codes);

// The round keys of AES-256. As secret as the key.
typedef struct {
    uint8_t encryption[15][16], decryption[15][16];
} page_lanes_cipher_key;

void page_lanes_cipher_key_init(page_lanes_cipher_key *key, const uint8_t bytes[32]);

// Decrypts one message. `length`: a multiple of 16. Input and output do not overlap.
void page_lanes_decrypt(page_lanes_kind kind, const page_lanes_cipher_key *key, const uint8_t *iv, const uint8_t *input, uint8_t *output,
    size_t length);

// Encrypts `count` messages (1 to `page_lanes_most`) of one length, a multiple of 16. Initialization vectors,
// inputs and outputs are each `stride` bytes behind those before. Inputs and outputs do not overlap.
void page_lanes_encrypt(page_lanes_kind kind, const page_lanes_cipher_key *key, size_t count, const uint8_t *ivs, const uint8_t *inputs,
    uint8_t *outputs, size_t stride, size_t length);

#endif
