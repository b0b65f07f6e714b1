// Computes SHA-512 of LANES messages at once: lane i of each vector belongs to message i. Included once for
// each number of lanes, with NAME giving each function a distinct name. FIPS 180-4, 6.4.2; variables and
// functions have the standard's names.

#if LANES == 1
typedef uint64_t NAME(words);
#else
typedef uint64_t NAME(words) __attribute__((vector_size(8 * LANES), aligned(8)));
#endif

#define WORDS NAME(words)
#define ROTR(x, n) ((x) >> (n) | (x) << (64 - (n)))
#define SUM_0(x) (ROTR(x, 28) ^ ROTR(x, 34) ^ ROTR(x, 39))
#define SUM_1(x) (ROTR(x, 14) ^ ROTR(x, 18) ^ ROTR(x, 41))
#define SIGMA_0(x) (ROTR(x, 1) ^ ROTR(x, 8) ^ (x) >> 7)
#define SIGMA_1(x) (ROTR(x, 19) ^ ROTR(x, 61) ^ (x) >> 6)
#define CH(x, y, z) (((x) & (y)) ^ (~(x) & (z)))
#define MAJ(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))

// Loads the big-endian words at these bytes. Compilers turn this into one shuffle.
static inline WORDS NAME(words_at)(const uint8_t *bytes) {
    uint64_t words[LANES];
    WORDS result;
    memcpy(words, bytes, sizeof words);
    for (int i = 0; i < LANES; i++) words[i] = __builtin_bswap64(words[i]);
    memcpy(&result, words, sizeof words);
    return result;
}

// Loads the next LANES words of each message, with the words of the same index in one vector.
static inline void NAME(load)(WORDS *words, const uint8_t *const messages[], size_t offset) {
#if LANES == 1
    words[0] = NAME(words_at)(messages[0] + offset);
#elif LANES == 4
    WORDS row[4], pair[4];
    for (int i = 0; i < 4; i++) row[i] = NAME(words_at)(messages[i] + offset);
    for (int i = 0; i < 2; i++) {
        pair[i] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 0, 4, 2, 6);
        pair[i + 2] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 1, 5, 3, 7);
    }
    for (int i = 0; i < 2; i++) {
        words[i] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 0, 1, 4, 5);
        words[i + 2] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 2, 3, 6, 7);
    }
#elif LANES == 8
    WORDS row[8], pair[8], four[8];
    for (int i = 0; i < 8; i++) row[i] = NAME(words_at)(messages[i] + offset);
    // pair[i]: the even (odd) words of two messages; four[i]: every fourth word of four messages.
    for (int i = 0; i < 4; i++) {
        pair[i] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        pair[i + 4] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i += 2) {
        four[i] = __builtin_shufflevector(pair[i], pair[i + 1], 0, 1, 8, 9, 4, 5, 12, 13);
        four[i + 1] = __builtin_shufflevector(pair[i], pair[i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 2; i++) {
        words[2 * i] = __builtin_shufflevector(four[i], four[i + 2], 0, 1, 2, 3, 8, 9, 10, 11);
        words[2 * i + 4] = __builtin_shufflevector(four[i], four[i + 2], 4, 5, 6, 7, 12, 13, 14, 15);
        words[2 * i + 1] = __builtin_shufflevector(four[i + 4], four[i + 6], 0, 1, 2, 3, 8, 9, 10, 11);
        words[2 * i + 5] = __builtin_shufflevector(four[i + 4], four[i + 6], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#endif
}

static inline void NAME(compress)(WORDS state[8], WORDS w[16]) {
    WORDS a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
// One round. The caller rotates the variables by one position, so that no values have to be moved.
#define ROUND(a, b, c, d, e, f, g, h, word, constant) \
    do { \
        h += SUM_1(e) + CH(e, f, g) + (word) + (constant); \
        d += h; \
        h += SUM_0(a) + MAJ(a, b, c); \
    } while (0)
    for (int t = 0; t < 80; t += 16) {
        if (t > 0) {
#pragma clang loop unroll(full)
            for (int j = 0; j < 16; j++) w[j] += SIGMA_1(w[(j + 14) & 15]) + w[(j + 9) & 15] + SIGMA_0(w[(j + 1) & 15]);
        }
#pragma clang loop unroll(full)
        for (int j = 0; j < 16; j += 8) {
            const uint64_t *k = round_constants + t + j;
            ROUND(a, b, c, d, e, f, g, h, w[j], k[0]);
            ROUND(h, a, b, c, d, e, f, g, w[j + 1], k[1]);
            ROUND(g, h, a, b, c, d, e, f, w[j + 2], k[2]);
            ROUND(f, g, h, a, b, c, d, e, w[j + 3], k[3]);
            ROUND(e, f, g, h, a, b, c, d, w[j + 4], k[4]);
            ROUND(d, e, f, g, h, a, b, c, w[j + 5], k[5]);
            ROUND(c, d, e, f, g, h, a, b, w[j + 6], k[6]);
            ROUND(b, c, d, e, f, g, h, a, w[j + 7], k[7]);
        }
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e, state[5] += f, state[6] += g, state[7] += h;
#undef ROUND
}

static inline void NAME(hash_block)(WORDS state[8], const uint8_t *const messages[], size_t offset) {
    WORDS words[16];
    for (int i = 0; i < 16; i += LANES) NAME(load)(words + i, messages, offset + 8 * i);
    NAME(compress)(state, words);
}

#if LANES > 1
static void NAME(codes)(const page_lanes_code_key *key, size_t count, const uint8_t *messages, size_t stride, size_t length,
    const uint8_t *tails, uint8_t *codes) {
    // Unused lanes repeat the first message.
    const uint8_t *lanes[LANES], *ends[LANES];
    for (size_t i = 0; i < LANES; i++) lanes[i] = messages + (i < count ? i * stride : 0);

    // All whole blocks, then the remaining bytes, the tail, and the padding, which take one block or two.
    WORDS state[8];
    for (int i = 0; i < 8; i++) state[i] = (WORDS){} + key->inner[i];
    size_t whole = length / 128 * 128, rest = length - whole;
    for (size_t offset = 0; offset < whole; offset += 128) NAME(hash_block)(state, lanes, offset);
    uint8_t end[LANES][256];
    size_t end_size = rest + 4 + 17 <= 128 ? 128 : 256;
    uint64_t bits = (128 + length + 4) * 8;
    for (size_t i = 0; i < LANES; i++) {
        ends[i] = end[i];
        memset(end[i], 0, sizeof end[i]);
        memcpy(end[i], lanes[i] + whole, rest);
        memcpy(end[i] + rest, tails + (i < count ? 4 * i : 0), 4);
        end[i][rest + 4] = 0x80;
        for (int k = 0; k < 8; k++) end[i][end_size - 1 - k] = (uint8_t)(bits >> 8 * k);
    }
    for (size_t offset = 0; offset < end_size; offset += 128) NAME(hash_block)(state, ends, offset);

    // The outer hash is one block: the inner hash of 64 bytes, and its padding.
    WORDS words[16];
    for (int i = 0; i < 8; i++) {
        words[i] = state[i];
        words[i + 8] = (WORDS){};
        state[i] = (WORDS){} + key->outer[i];
    }
    words[8] += 0x8000000000000000;
    words[15] += (128 + 64) * 8;
    NAME(compress)(state, words);
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < 8; k++) {
            uint64_t word = __builtin_bswap64(state[k][i]);
            memcpy(codes + 64 * i + 8 * k, &word, 8);
        }
    }
}
#endif

#undef WORDS
#undef ROTR
#undef SUM_0
#undef SUM_1
#undef SIGMA_0
#undef SIGMA_1
#undef CH
#undef MAJ
