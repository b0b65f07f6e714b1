// A crypto provider for SQLCipher that keeps the state that the engine's own provider creates again for each
// page, and a memo of pages that are known to be authentic.
//
// The engine calls its provider for random bytes, for the MAC of a page, and for encryption. Its own provider
// fetches an algorithm, creates a context, sets the key, and discards both, on every call. This one keeps
// them as long as the connection has its key. All other calls, and all connections that do not use this
// provider, go to the engine's own provider.
//
// The provider is written against a header that the engine does not install. `page_provider_install`
// therefore accepts only versions whose layout is in its table, and compares all results with the engine's
// own provider before it registers this one.
#ifndef COFFER_PAGE_PROVIDER_H
#define COFFER_PAGE_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

// MARK: - The memo

// Pages that this process has authenticated or sealed itself, shared by the connections of one queue or pool.
//
// For each state of a page there are 32 bytes: a universal hash, under random keys that never leave the memo,
// of the page with its initialization vector and its stored MAC, of its number, and of the key that verifies
// the MAC. The same bytes always give the same tag. Different bytes, from someone who does not know the keys,
// give the same tag with a probability of at most 2^-128. All functions can be called from any thread.
enum { page_memo_tag_size = 32 };
typedef struct page_memo page_memo;

// Creates a memo. `bytes`: the maximum memory, rounded down to a power of two, at least 4096; 64 bytes hold
// two page states. `page_size`: the size of the largest pages. Returns NULL if there is no memory or no
// randomness.
page_memo *page_memo_make(size_t bytes, size_t page_size);
void page_memo_retain(page_memo *memo);
// Releases a reference. The last release wipes the memo.
void page_memo_release(page_memo *memo);

// Forgets all pages, and returns their memory to the system.
void page_memo_forget_all(page_memo *memo);
// Forgets all pages, and ignores all further notes.
void page_memo_close(page_memo *memo);

// Returns true if a tag was noted for a page. `number`: the page number in the byte order that the MAC
// covers.
int page_memo_knows(page_memo *memo, uint32_t number, const uint8_t *tag);
void page_memo_note(page_memo *memo, uint32_t number, const uint8_t *tag);

// Returns how often a page was recognized.
uint64_t page_memo_hits(page_memo *memo);
// Returns the number of tags. Scans all of the memo's memory.
size_t page_memo_count(page_memo *memo);
// Returns true if the table contains only zeros.
int page_memo_is_blank(page_memo *memo);

// Gets the number of bytes of key memory that are locked, here and in the provider, and the number that the
// system refused to lock.
void page_memory_use(size_t *locked, size_t *unlocked);

// MARK: - The provider

typedef enum {
    page_provider_installed = 0,
    page_provider_hidden = 1,   // the engine does not export the required functions
    page_provider_unknown = 2,  // the layout of this version was not verified
    page_provider_foreign = 3,  // other code has registered a provider
    page_provider_wrong = 4,    // the results differ from the engine's own
    page_provider_no_memory = 5,
} page_provider_outcome;

// Returns true if the layout of the engine's provider is known for a version, in the form of `PRAGMA
// cipher_version`.
int page_provider_knows(const char *cipher_version);

// Registers the provider for all connections that get a key from now on. Call it once, while a connection has
// a key, and keep that connection open for the life of the process: engines before 4.7 free their provider
// with the last connection.
page_provider_outcome page_provider_install(const char *cipher_version);

// Makes connections that this thread gives a key use the provider, until `page_provider_end`. Other
// connections use the engine's own. `memo`: NULL for none.
void page_provider_begin(page_memo *memo);
void page_provider_end(void);

#endif
