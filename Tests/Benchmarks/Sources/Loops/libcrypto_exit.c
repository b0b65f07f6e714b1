// Debian 13's static libcrypto refers to zstd in its cleanup at exit. Coffer's stubs of this name are in a
// module that the runners without Coffer do not link.
__attribute__((weak, visibility("hidden"))) void ossl_comp_zstd_cleanup(void) {}
__attribute__((weak, visibility("hidden"))) void ossl_comp_brotli_cleanup(void) {}
