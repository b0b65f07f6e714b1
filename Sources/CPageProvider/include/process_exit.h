// Keeps libcrypto and the engine safe while the process exits and other threads are still working.
//
// A process that calls exit() runs its exit handlers first, and its other threads continue until the last
// handler has returned. libcrypto has such a handler, which frees its state; Coffer disables it. Since 4.7,
// SQLCipher has one that wipes the mask of all keys and frees the engine's memory: a thread that then
// encrypts a page crashes, or writes it under a wrong key. Handlers run in reverse order of registration, so
// Coffer's, which is registered later, runs first. It holds the other threads where they enter the engine's
// cryptography, and where they read or write files.
#ifndef COFFER_PROCESS_EXIT_H
#define COFFER_PROCESS_EXIT_H

// Disables libcrypto's exit handler. It runs before main.
void process_exit_keep_libcrypto(void);

// Registers the handler if the engine has one. Call it after the engine has been initialized. Further calls
// do nothing.
void process_exit_hold_engine(void);

// Returns true if the calling thread may use the engine. While the process exits, all threads except the
// exiting one wait here for the end of the process. If it does not come within ten seconds (another handler
// may be waiting for this thread), or if the engine has shut down, the function returns 0, and the caller
// must fail.
int process_exit_allows(void);

// Like `process_exit_allows`, but for the middle of a page, where failing needs the engine's memory too:
// waits forever.
void process_exit_stop(void);

#endif
