#include "process_exit.h"
#include <openssl/crypto.h>

// libcrypto frees its state when the process exits, unless its very first use says otherwise: threads that
// are still encrypting pages would crash. The part of Coffer that uses it first differs from program to
// program, so this runs before any of them.
__attribute__((constructor)) void process_exit_keep_libcrypto(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

// The cleanup disabled above is the only reference from libcrypto to zstd and brotli, which it uses for TLS
// certificates. Without these stubs, a static libcrypto built with them (Debian 13 has zstd) would require
// these libraries in every program. The stubs are weak: in a program that links the compression itself, with
// libssl, libcrypto's own functions are used.
__attribute__((weak, visibility("hidden"))) void ossl_comp_zstd_cleanup(void) {}
__attribute__((weak, visibility("hidden"))) void ossl_comp_brotli_cleanup(void) {}
