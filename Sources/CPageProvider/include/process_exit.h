// Keeps libcrypto and the engine safe while the process exits and other threads still work.
//
// A process that calls exit() runs its exit handlers first, and its other threads go on until the last handler
// has returned. libcrypto has such a handler, which frees its state; Coffer switches it off. SQLCipher has one
// since 4.7, which wipes the mask of all keys and frees the engine's memory: a thread that encrypts a page then
// crashes, or writes it under a wrong key. A handler that is registered later runs earlier, so that Coffer's
// holds the other threads where they enter the engine's cryptography, and where they read or write files.
#ifndef COFFER_PROCESS_EXIT_H
#define COFFER_PROCESS_EXIT_H

// Switches off the handler of libcrypto. It runs before main.
void process_exit_keep_libcrypto(void);

// Registers the handler if the engine has one. Call it after the engine has been initialized. Further calls do
// nothing.
void process_exit_hold_engine(void);

// Whether the calling thread may use the engine. While the process exits, other threads than the exiting one
// wait here for the end of the process. If it does not come within ten seconds (another handler may wait for
// this thread), or if the engine has shut down, the answer is 0, and the caller has to fail.
int process_exit_allows(void);

// The same in the middle of a page, where failing needs the engine's memory too: waits without end.
void process_exit_stop(void);

#endif
