// The line editor of the tool's shell, and wrappers for its variadic functions, which Swift cannot call. The
// library does not use it.
#ifndef COFFER_CEDITLINE_H
#define COFFER_CEDITLINE_H

#if !__has_include(<histedit.h>)
#error "libedit's headers are missing, which the tool needs (the library does not). Run Scripts/bootstrap: it installs libedit-dev."
#endif

#include <histedit.h>
#include <stdio.h>

typedef char *(*coffer_el_prompt_function)(EditLine *);
typedef unsigned char (*coffer_el_key_function)(EditLine *, int);

static inline EditLine *coffer_el_init(void *data, coffer_el_prompt_function prompt) {
    EditLine *editor = el_init("coffer", stdin, stdout, stderr);
    if (!editor) return NULL;
    el_set(editor, EL_CLIENTDATA, data);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_SIGNAL, 0);
    el_set(editor, EL_PROMPT, prompt);
    // Ctrl-C is an ordinary key while a line is typed.
    el_set(editor, EL_SETTY, "-d", "-isig", (char *)NULL);
    return editor;
}

static inline void *coffer_el_data(EditLine *editor) {
    void *data = NULL;
    el_get(editor, EL_CLIENTDATA, &data);
    return data;
}

static inline int coffer_el_bind(EditLine *editor, const char *key, const char *name, coffer_el_key_function function) {
    int code = el_set(editor, EL_ADDFN, name, "", function);
    return code ? code : el_set(editor, EL_BIND, key, name, (char *)NULL);
}

static inline int coffer_el_bind_known(EditLine *editor, const char *key, const char *name) {
    return el_set(editor, EL_BIND, key, name, (char *)NULL);
}

static inline int coffer_el_use_history(EditLine *editor, History *entries, int count) {
    HistEvent event;
    history(entries, &event, H_SETSIZE, count);
    history(entries, &event, H_SETUNIQUE, 1);
    return el_set(editor, EL_HIST, history, entries);
}

static inline int coffer_history_add(History *entries, const char *text) {
    HistEvent event;
    return history(entries, &event, H_ENTER, text);
}

#endif
