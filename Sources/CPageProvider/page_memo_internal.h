#include "page_provider.h"

// Prepares memory for secrets: locks it as far as the limit allows, and excludes it from core dumps. Both are
// best effort. Returns whether it is locked; `page_memory_end` subtracts it from the counts before it is
// unmapped.
int page_memory_begin(void *memory, size_t locked_size, size_t size);
void page_memory_end(size_t locked_size, int is_locked);

// The data that a tag covers in addition to the page: its number and size, and the algorithm and key of its
// MAC.
enum { page_memo_identity_size = 48 };

// Computes the tag of a page with its initialization vector and its MAC. Returns 0 for pages larger than the
// memo's.
int page_memo_tag(const page_memo *memo, const uint8_t *page, size_t size, const uint8_t identity[page_memo_identity_size], uint8_t *tag);
