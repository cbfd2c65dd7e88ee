/* SPDX-License-Identifier: GPL-3.0-or-later */
/* last_words.c - a text of at most 800 bytes: some programs print the message first, perhaps behind lines of their
 * source, others last. */
#include "base/last_words.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 4096, START = 400, END = 400, MOST = 160 }; /* bytes: that are read, of a longer log, of a line */

static void replace(char *at, size_t length, char by)
{
    *at = by;
    memmove(at + 1, at + length, strlen(at + length) + 1);
}

/* Whether the word before `at` says that a process's number follows, as in "process 305", "pid=305". */
static bool numbers_process(const char *text, const char *at)
{
    while (at > text && strchr(" =:", at[-1])) at--;
    size_t length = (size_t)(at - text);
    return (length >= 7 && strncasecmp(at - 7, "process", 7) == 0) ||
           (length >= 3 && strncasecmp(at - 3, "pid", 3) == 0);
}

void nb_hide_chance(char *text, const char *folder, pid_t pid)
{
    char number[16];
    size_t length = strlen(folder);
    for (char *at = text; (at = strstr(at, folder)); at++)
        if (!isalnum((unsigned char)at[length])) replace(at, length, '.'); /* else another, whose name goes on */
    int digits = snprintf(number, sizeof number, "%d", (int)pid);
    for (char *at = text; *at; at++) {
        size_t run = strspn(at, "0123456789"),
               hex = strncmp(at, "0x", 2) == 0 ? strspn(at + 2, "0123456789abcdefABCDEF") : 0;
        if (hex >= 6)
            replace(at + 2, hex, '#');
        else if (run == (size_t)digits && strncmp(at, number, run) == 0 &&
                 (run > 3 || numbers_process(text, at))) /* other small numbers may mean anything */
            replace(at, run, '#');
        else if (run > 0)
            at += run - 1;
    }
}

/* Ends a long line with "...", between characters of UTF-8. Returns where it ends. */
static size_t end_long(char *text, size_t line, size_t length)
{
    size_t at = length - 3;
    while (at > line && (text[at] & 0xC0) == 0x80) at--;
    memset(&text[at], '.', 3);
    return at + 3;
}

/* Reads a piece of the log as one line: '|' stands for the end of a line that is not empty, ' ' for blanks and what is
 * no text. Of a long line the first MOST bytes are kept. */
static void read_line(FILE *log, char text[PIECE + 1])
{
    char piece[PIECE];
    size_t count = fread(piece, 1, PIECE, log), length = 0, line = 0; /* bytes of the text, and before its last line */
    bool full = false;
    for (size_t i = 0; i < count; i++) {
        bool blank = memchr(" \t\r", piece[i], 4); /* with the 0 at its end */
        if (piece[i] == '\n') {
            while (length > line && text[length - 1] == ' ') length--;
            if (length > line) text[length++] = '|';
            line = length;
            full = false;
        } else if (full) {
            continue;
        } else if (length - line == MOST) {
            length = end_long(text, line, length);
            full = true;
        } else if (!blank || (length > line && text[length - 1] != ' ')) {
            text[length++] = blank ? ' ' : piece[i];
        }
    }
    while (length > 0 && strchr(" |", text[length - 1])) length--;
    text[length] = '\0';
}

nb_status nb_last_words(const char *path, const char *folder, pid_t pid, const char **words, nb_ctx *ctx)
{
    char first[PIECE + 1] = "", end[PIECE + 1] = "", *last = first;
    struct stat info;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC); /* the program may have put anything there */
    FILE *log = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(file, "r") : NULL;
    if (file >= 0 && !log) close(file);
    if (log) read_line(log, first);
    if (log && info.st_size > PIECE && fseek(log, -PIECE, SEEK_END) == 0) {
        read_line(log, end);
        last = end;
    }
    if (log) fclose(log);
    nb_hide_chance(first, folder, pid);
    nb_hide_chance(end, folder, pid);
    size_t length = strlen(last);
    if (last == first && length <= START + END) {
        NB_NEED(*words, nb_format(ctx, "%s%s", length ? ": " : "", first));
        return NB_OK;
    }
    NB_NEED(last, nb_strdup(ctx, length > END ? last + length - END : last));
    first[START] = '\0';
    /* Cuts off what ends or begins no line, or no word: half a name, perhaps */
    char *cut = strrchr(first, strchr(first, '|') ? '|' : ' ');
    if (cut) *cut = '\0';
    last += strcspn(last, strchr(last, '|') ? "|" : " ");
    NB_NEED(*words, nb_format(ctx, ": %s|...%s", first, last));
    return NB_OK;
}

nb_status nb_error_hide_chance(nb_status status, const char *folder, nb_ctx *ctx)
{
    char *message;
    if (status == NB_OK || status == NB_ENOMEM) return status;
    NB_NEED(message, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    nb_hide_chance(message, folder, 0);
    NB_FAIL(ctx, status, "%s", message);
}
