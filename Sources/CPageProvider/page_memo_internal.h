#include "page_provider.h"

// Memory of secrets: locked as far as the limit allows, and left out of core dumps. Both are best effort.
// Returns whether it is locked; `page_memory_end` counts it out again before it is unmapped.
int page_memory_begin(void *memory, size_t locked_size, size_t size);
void page_memory_end(size_t locked_size, int is_locked);

// What a tag covers beyond the page: its number and its size, and the algorithm and the key of its code.
enum { page_memo_identity_size = 48 };

// The tag of a page with its initialization vector and its code. 0 for pages that are larger than those of
// the memo.
int page_memo_tag(const page_memo *memo, const uint8_t *page, size_t size, const uint8_t identity[page_memo_identity_size], uint8_t *tag);
