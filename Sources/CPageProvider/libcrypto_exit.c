#include <openssl/crypto.h>

// libcrypto frees its state when the process exits, unless its very first use says otherwise: threads that
// still encrypt pages would crash then. Which part of Coffer uses it first is different from program to
// program, so that this is said before any of them runs.
__attribute__((constructor)) static void keep_until_the_end(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
