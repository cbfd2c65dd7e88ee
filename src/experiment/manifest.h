/* manifest.h - what signs the rows of one run: which program, and all that is known of
 * how it came to them. */
#ifndef NB_MANIFEST_H
#define NB_MANIFEST_H

typedef struct {
    const char *build;      /* for people: the state of the source that it was built from */
    const char *executable; /* SHA-256 of its file: tells programs apart */
} nb_program;

typedef struct {
    nb_program program;
    const char *text; /* a JSON object, provenance.h */
} nb_manifest;

#endif
