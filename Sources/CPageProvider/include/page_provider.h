// A crypto provider for SQLCipher that keeps what the engine's own makes anew for each page, and a memo of
// pages that are known to be authentic.
//
// The engine asks its provider for random bytes, for the code of a page and for its encryption. Its own
// provider fetches an algorithm, makes a context, sets the key and throws both away, each time. This one
// keeps them as long as the connection has its key. Everything else, and every connection that is not set to
// use it, goes to the engine's own provider.
//
// It is written against a header that the engine does not install. `page_provider_install` therefore accepts
// only versions whose layout is in its table, and compares all answers with those of the engine's own provider
// before one is used.
#ifndef COFFER_PAGE_PROVIDER_H
#define COFFER_PAGE_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

// MARK: - The memo

// Pages that this process has authenticated or sealed itself, shared by the connections of one queue or pool.
//
// For each state of a page there are 32 bytes: a universal hash, under random keys that never leave the memo,
// of the page with its initialization vector and its stored code, of its number, and of the key under which
// the code is right. Who gives the same bytes again gets the same 32 bytes; who gives others, and does not
// know the keys, gets them with a chance of at most 2^-128. All functions can be called from any thread.
enum { page_memo_tag_size = 32 };
typedef struct page_memo page_memo;

// `bytes`: how much memory the memo may take, rounded down to a power of two, at least 4096; 64 bytes hold
// two states of pages. `page_size`: of the largest pages. NULL where there is no memory or no randomness.
page_memo *page_memo_make(size_t bytes, size_t page_size);
void page_memo_retain(page_memo *memo);
// The last one wipes it.
void page_memo_release(page_memo *memo);

// Forgets all pages, and gives their memory back to the system.
void page_memo_forget_all(page_memo *memo);
// The same, and nothing is noted from now on.
void page_memo_close(page_memo *memo);

// Whether a tag was noted for a page. `number`: as it stands in the bytes that a code covers.
int page_memo_knows(page_memo *memo, uint32_t number, const uint8_t *tag);
void page_memo_note(page_memo *memo, uint32_t number, const uint8_t *tag);

// How often a page was recognised.
uint64_t page_memo_hits(page_memo *memo);
// How many tags there are. Looks at all of its memory.
size_t page_memo_count(page_memo *memo);
// Whether there is nothing but zeros in the table.
int page_memo_is_blank(page_memo *memo);

// How many bytes of the memory for keys are locked, here and in the provider, and how many the system has
// refused to lock.
void page_memory_use(size_t *locked, size_t *unlocked);

// MARK: - The provider

typedef enum {
    page_provider_installed = 0,
    page_provider_hidden = 1,   // the engine does not export what is needed
    page_provider_unknown = 2,  // the layout of this version was not verified
    page_provider_foreign = 3,  // other code has registered a provider
    page_provider_wrong = 4,    // the answers differ from the engine's own
    page_provider_no_memory = 5,
} page_provider_outcome;

// Whether the layout of the engine's provider is known for a version, as `PRAGMA cipher_version` gives it.
int page_provider_knows(const char *cipher_version);

// Registers the provider for all connections that get a key from now on. Call it once, while a connection has
// a key, and keep that one open for the life of the process: an engine before 4.7 frees its provider with the
// last one.
page_provider_outcome page_provider_install(const char *cipher_version);

// Has the connection that the calling thread is about to give a key use the provider, until
// `page_provider_end`. Others use the engine's own. `memo`: NULL for none.
void page_provider_begin(page_memo *memo);
void page_provider_end(void);

#endif
