// HMAC-SHA512 and AES-256-CBC for several pages at once, with the processor's vector instructions.
//
// The SHA-512 of one page is a chain of dependent operations, and so is its encryption in CBC mode: one page
// at a time leaves most of the processor idle. Here each page has a lane of the vector registers. No branches
// or addresses depend on keys or data: AES rounds are instructions, and the table of SHA-512 is read in
// order.
//
// If the processor lacks the instructions, `page_lanes_best` returns `page_lanes_none`, and the caller uses
// libcrypto: it must not call any function here except `page_lanes_code_key_init`.
#ifndef COFFER_PAGE_LANES_H
#define COFFER_PAGE_LANES_H

#include <stddef.h>
#include <stdint.h>

// The maximum number of pages per call.
enum { page_lanes_most = 8 };

typedef enum {
    page_lanes_none = 0,
    page_lanes_avx2 = 1,   // AVX2 and AES-NI: four pages are hashed at once
    page_lanes_avx512 = 2, // AVX-512 and VAES: eight pages are hashed at once
} page_lanes_kind;

// Returns the best kind that this processor and its operating system support.
page_lanes_kind page_lanes_best(void);

// The state that HMAC-SHA512 derives from its key: the inner and the outer hash after their first block. It
// is as secret as the key.
typedef struct {
    uint64_t inner[8], outer[8];
} page_lanes_code_key;

// `size`: at most 128.
void page_lanes_code_key_init(page_lanes_code_key *key, const uint8_t *bytes, size_t size);

// Computes the MACs of `count` messages (1 to `page_lanes_most`). Each has `length` bytes, starts `stride`
// bytes after the previous one, and has a tail of 4 bytes of its own. `tails`: 4 bytes for each message;
// `codes`: 64 bytes for each.
void page_lanes_codes(page_lanes_kind kind, const page_lanes_code_key *key, size_t count, const uint8_t *messages, size_t stride,
    size_t length, const uint8_t *tails, uint8_t *codes);

// The round keys of AES-256. They are as secret as the key.
typedef struct {
    uint8_t encryption[15][16], decryption[15][16];
} page_lanes_cipher_key;

void page_lanes_cipher_key_init(page_lanes_cipher_key *key, const uint8_t bytes[32]);

// Decrypts one message. `length`: a multiple of 16. Input and output do not overlap.
void page_lanes_decrypt(page_lanes_kind kind, const page_lanes_cipher_key *key, const uint8_t *iv, const uint8_t *input, uint8_t *output,
    size_t length);

// Encrypts `count` messages (1 to `page_lanes_most`) of one length, a multiple of 16. Initialization vectors,
// inputs and outputs each start `stride` bytes after the previous one. Inputs and outputs do not overlap.
void page_lanes_encrypt(page_lanes_kind kind, const page_lanes_cipher_key *key, size_t count, const uint8_t *ivs, const uint8_t *inputs,
    uint8_t *outputs, size_t stride, size_t length);

#endif
