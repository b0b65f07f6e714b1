#include "process_exit.h"
#include <openssl/crypto.h>

// libcrypto frees its state when the process exits, unless its very first use says otherwise: threads that
// still encrypt pages would crash then. Which part of Coffer uses it first is different from program to
// program, so that this is said before any of them runs.
__attribute__((constructor)) void process_exit_keep_libcrypto(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

// The cleanup that is switched off above is all that ties libcrypto to zstd and brotli, which it has for the
// certificates of TLS: a static libcrypto that was built with them (Debian 13 has zstd) would need these
// libraries in every program. These functions stand in for the cleanup of what is not linked. They are weak:
// in a program that links the compression itself, with libssl, libcrypto's own take their place.
__attribute__((weak, visibility("hidden"))) void ossl_comp_zstd_cleanup(void) {}
__attribute__((weak, visibility("hidden"))) void ossl_comp_brotli_cleanup(void) {}
