#include "page_lanes.h"
#include <string.h>

// FIPS 180-4, 4.2.3: the fractional parts of the cube roots of the first eighty primes.
static const uint64_t round_constants[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538, 0x59f111f1b605d019,
    0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3,
    0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65, 0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b, 0xa2bfe8a14cf10364, 0xa81a664bbc423001,
    0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb,
    0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c, 0xd186b8c721c0c207,
    0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a,
    0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

// FIPS 180-4, 5.3.5.
static const uint64_t first_state[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

// One lane is plain C, for the two blocks of an HMAC key.
#define LANES 1
#define NAME(name) name##_1
#include "sha512_lanes.h"
#undef LANES
#undef NAME

void page_lanes_code_key_init(page_lanes_code_key *key, const uint8_t *bytes, size_t size) {
    uint8_t pad[2][128];
    for (size_t i = 0; i < sizeof pad[0]; i++) {
        uint8_t byte = i < size ? bytes[i] : 0;
        pad[0][i] = byte ^ 0x36;
        pad[1][i] = byte ^ 0x5c;
    }
    uint64_t *states[2] = { key->inner, key->outer };
    for (int i = 0; i < 2; i++) {
        const uint8_t *block[1] = { pad[i] };
        memcpy(states[i], first_state, sizeof first_state);
        hash_block_1(states[i], block, 0);
    }
    // Volatile, so that the compiler keeps this wipe of bytes that are not read again.
    for (size_t i = 0; i < sizeof pad; i++) ((volatile uint8_t *)pad)[i] = 0;
}

#if defined(__x86_64__)
#include <immintrin.h>

page_lanes_kind page_lanes_best(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("aes")) return page_lanes_none;
    int has512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("vaes");
    return has512 ? page_lanes_avx512 : page_lanes_avx2;
}

#pragma clang attribute push(__attribute__((target("avx2,aes"))), apply_to = function)
#define LANES 4
#define NAME(name) name##_4
#include "sha512_lanes.h"
#undef LANES
#undef NAME

// FIPS 197, 5.2: each pair of round keys is derived from the previous pair.
static __m128i expand(__m128i previous, __m128i assist) {
    previous = _mm_xor_si128(previous, _mm_slli_si128(previous, 4));
    previous = _mm_xor_si128(previous, _mm_slli_si128(previous, 8));
    return _mm_xor_si128(previous, assist);
}

void page_lanes_cipher_key_init(page_lanes_cipher_key *key, const uint8_t bytes[32]) {
    __m128i keys[15];
    keys[0] = _mm_loadu_si128((const __m128i *)bytes);
    keys[1] = _mm_loadu_si128((const __m128i *)(bytes + 16));
// The instruction accepts the round constant only as a literal.
#define EVEN(i, constant) \
    keys[i] = expand(keys[(i)-2], _mm_shuffle_epi32(_mm_aeskeygenassist_si128(keys[(i)-1], constant), 0xff))
#define ODD(i) keys[i] = expand(keys[(i)-2], _mm_shuffle_epi32(_mm_aeskeygenassist_si128(keys[(i)-1], 0), 0xaa))
    EVEN(2, 1), ODD(3), EVEN(4, 2), ODD(5), EVEN(6, 4), ODD(7), EVEN(8, 8), ODD(9);
    EVEN(10, 16), ODD(11), EVEN(12, 32), ODD(13), EVEN(14, 64);
#undef EVEN
#undef ODD
    for (int i = 0; i < 15; i++) {
        int isEnd = i == 0 || i == 14;
        _mm_storeu_si128((__m128i *)key->encryption[i], keys[i]);
        _mm_storeu_si128((__m128i *)key->decryption[i], isEnd ? keys[14 - i] : _mm_aesimc_si128(keys[14 - i]));
    }
    for (size_t i = 0; i < sizeof keys; i++) ((volatile uint8_t *)keys)[i] = 0;
}

static void decrypt_128(
    const page_lanes_cipher_key *key, __m128i previous, const uint8_t *input, uint8_t *output, size_t length) {
    const __m128i *keys = (const __m128i *)key->decryption;
    size_t offset = 0;
    for (; length - offset >= 128; offset += 128) {
        __m128i stored[8], state[8];
#pragma clang loop unroll(full)
        for (int j = 0; j < 8; j++) {
            stored[j] = _mm_loadu_si128((const __m128i *)(input + offset) + j);
            state[j] = _mm_xor_si128(stored[j], _mm_loadu_si128(keys));
        }
        for (int round = 1; round < 14; round++) {
            __m128i round_key = _mm_loadu_si128(keys + round);
#pragma clang loop unroll(full)
            for (int j = 0; j < 8; j++) state[j] = _mm_aesdec_si128(state[j], round_key);
        }
        __m128i last = _mm_loadu_si128(keys + 14);
#pragma clang loop unroll(full)
        for (int j = 0; j < 8; j++) {
            __m128i content = _mm_xor_si128(_mm_aesdeclast_si128(state[j], last), j ? stored[j - 1] : previous);
            _mm_storeu_si128((__m128i *)(output + offset) + j, content);
        }
        previous = stored[7];
    }
    for (; offset < length; offset += 16) {
        __m128i stored = _mm_loadu_si128((const __m128i *)(input + offset));
        __m128i state = _mm_xor_si128(stored, _mm_loadu_si128(keys));
        for (int round = 1; round < 14; round++) state = _mm_aesdec_si128(state, _mm_loadu_si128(keys + round));
        state = _mm_xor_si128(_mm_aesdeclast_si128(state, _mm_loadu_si128(keys + 14)), previous);
        _mm_storeu_si128((__m128i *)(output + offset), state);
        previous = stored;
    }
}

void page_lanes_encrypt(page_lanes_kind kind, const page_lanes_cipher_key *key, size_t count, const uint8_t *ivs, const uint8_t *inputs,
    uint8_t *outputs, size_t stride, size_t length) {
    (void)kind; // The latency of one instruction is the limit, and wider instructions have the same latency.
    const __m128i *keys = (const __m128i *)key->encryption;
    // Unused lanes repeat the first page.
    size_t lane[page_lanes_most];
    __m128i state[page_lanes_most];
    for (size_t j = 0; j < page_lanes_most; j++) {
        lane[j] = j < count ? j * stride : 0;
        state[j] = _mm_loadu_si128((const __m128i *)(ivs + lane[j]));
    }
    for (size_t offset = 0; offset < length; offset += 16) {
        __m128i round_key = _mm_loadu_si128(keys);
#pragma clang loop unroll(full)
        for (int j = 0; j < page_lanes_most; j++)
            state[j] = _mm_xor_si128(_mm_xor_si128(state[j], _mm_loadu_si128((const __m128i *)(inputs + lane[j] + offset))), round_key);
        for (int round = 1; round < 14; round++) {
            round_key = _mm_loadu_si128(keys + round);
#pragma clang loop unroll(full)
            for (int j = 0; j < page_lanes_most; j++) state[j] = _mm_aesenc_si128(state[j], round_key);
        }
        round_key = _mm_loadu_si128(keys + 14);
#pragma clang loop unroll(full)
        for (int j = 0; j < page_lanes_most; j++) {
            state[j] = _mm_aesenclast_si128(state[j], round_key);
            _mm_storeu_si128((__m128i *)(outputs + lane[j] + offset), state[j]);
        }
    }
}
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,vaes,aes"))), apply_to = function)
#define LANES 8
#define NAME(name) name##_8
#include "sha512_lanes.h"
#undef LANES
#undef NAME

// Like `decrypt_128`, but with four blocks in a register.
static size_t decrypt_512(
    const page_lanes_cipher_key *key, __m128i previous, const uint8_t *input, uint8_t *output, size_t length) {
    __m512i keys[15];
    for (int i = 0; i < 15; i++) keys[i] = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)key->decryption[i]));
    __m512i before = _mm512_broadcast_i32x4(previous);
    size_t offset = 0;
    for (; length - offset >= 512; offset += 512) {
        __m512i stored[8], state[8];
#pragma clang loop unroll(full)
        for (int j = 0; j < 8; j++) {
            stored[j] = _mm512_loadu_si512(input + offset + 64 * j);
            state[j] = _mm512_xor_si512(stored[j], keys[0]);
        }
#pragma clang loop unroll(full)
        for (int round = 1; round < 14; round++) {
#pragma clang loop unroll(full)
            for (int j = 0; j < 8; j++) state[j] = _mm512_aesdec_epi128(state[j], keys[round]);
        }
#pragma clang loop unroll(full)
        for (int j = 0; j < 8; j++) {
            // Each block is combined with the stored block before it: the last block of the previous
            // register, and three of this one.
            __m512i shifted = _mm512_alignr_epi64(stored[j], j ? stored[j - 1] : before, 6);
            _mm512_storeu_si512(output + offset + 64 * j, _mm512_xor_si512(_mm512_aesdeclast_epi128(state[j], keys[14]), shifted));
        }
        before = stored[7];
    }
    return offset;
}
#pragma clang attribute pop

void page_lanes_decrypt(page_lanes_kind kind, const page_lanes_cipher_key *key, const uint8_t *iv, const uint8_t *input, uint8_t *output,
    size_t length) {
    __m128i previous = _mm_loadu_si128((const __m128i *)iv);
    size_t done = 0;
    if (kind == page_lanes_avx512) {
        done = decrypt_512(key, previous, input, output, length);
        if (done > 0) previous = _mm_loadu_si128((const __m128i *)(input + done - 16));
    }
    decrypt_128(key, previous, input + done, output + done, length - done);
}

void page_lanes_codes(page_lanes_kind kind, const page_lanes_code_key *key, size_t count, const uint8_t *messages, size_t stride,
    size_t length, const uint8_t *tails, uint8_t *codes) {
    size_t width = kind == page_lanes_avx512 ? 8 : 4;
    for (size_t start = 0; start < count; start += width) {
        size_t some = count - start < width ? count - start : width;
        if (width == 8)
            codes_8(key, some, messages + start * stride, stride, length, tails + 4 * start, codes + 64 * start);
        else
            codes_4(key, some, messages + start * stride, stride, length, tails + 4 * start, codes + 64 * start);
    }
}

#else

// Lanes exist only for processors whose instructions are known here. On others, these functions are never
// called.
page_lanes_kind page_lanes_best(void) { return page_lanes_none; }

void page_lanes_codes(page_lanes_kind kind, const page_lanes_code_key *key, size_t count, const uint8_t *messages, size_t stride,
    size_t length, const uint8_t *tails, uint8_t *codes) {
    __builtin_trap();
}

void page_lanes_cipher_key_init(page_lanes_cipher_key *key, const uint8_t bytes[32]) { __builtin_trap(); }

void page_lanes_decrypt(page_lanes_kind kind, const page_lanes_cipher_key *key, const uint8_t *iv, const uint8_t *input, uint8_t *output,
    size_t length) {
    __builtin_trap();
}

void page_lanes_encrypt(page_lanes_kind kind, const page_lanes_cipher_key *key, size_t count, const uint8_t *ivs, const uint8_t *inputs,
    uint8_t *outputs, size_t stride, size_t length) {
    __builtin_trap();
}

#endif
