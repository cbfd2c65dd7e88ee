/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual.h - the manual: a page for the program, one for each command, made from its options and docs/commands.md, and
 * one for each other document of docs/. */
#ifndef NB_MANUAL_H
#define NB_MANUAL_H

#include "commands/command.h"

#include <stdio.h>

/* A page's name and summary. A document is named after its file, without the ending unless a command has that name. */
typedef struct {
    const char *name, *summary;
    const nb_command *command; /* NULL: a document, or the program */
    const char *path;          /* path of the document; NULL: a command, or the program */
} nb_topic;

/* Lists all pages: the program, the commands in the order of --help, the documents by name. */
nb_status nb_manual_topics(nb_topic **topics, int *count, nb_ctx *ctx);

/* Finds the topic of a name in any case, with or without .md. NULL: there is none. */
const nb_topic *nb_manual_find(const nb_topic *topics, int count, const char *name);

/* Prints the page as text of that many columns. */
nb_status nb_manual_print(const nb_topic *topic, int width, FILE *out, nb_ctx *ctx);

/* Returns the command after `before`, or the first if that is NULL, in the order of --help; NULL: there are no more. */
const nb_command *nb_command_next(const nb_command *before);

#endif
