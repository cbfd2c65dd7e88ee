/* SPDX-License-Identifier: GPL-3.0-or-later */
/* last_words.c - a text of at most 600 bytes: some programs print the message first, others last. */
#include "base/last_words.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { START = 200, END = 400 }; /* bytes of a longer log */

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

/* Reads at most `room` bytes of the log as one line: '|' stands for the end of a line, ' ' for what is no text. */
static void read_line(FILE *log, size_t room, char *text)
{
    size_t count = fread(text, 1, room, log);
    for (size_t i = 0; i < count; i++)
        if (memchr("\n\r\t", text[i], 4))
            text[i] = text[i] == '\n' && i + 1 < count ? '|' : ' '; /* with the 0 at its end */
    while (count > 0 && text[count - 1] == ' ') count--;
    text[count] = '\0';
}

/* Cuts off what begins no line, or no word: half a name, perhaps. */
static const char *cut_start(const char *text)
{
    return text + strcspn(text, strchr(text, '|') ? "|" : " ");
}

static void cut_end(char *text)
{
    char *end = strrchr(text, strchr(text, '|') ? '|' : ' ');
    if (end) *end = '\0';
}

nb_status nb_last_words(const char *path, const char *folder, pid_t pid, const char **words, nb_ctx *ctx)
{
    char first[START + END + 1] = "", last[END + 1] = "";
    struct stat info;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC); /* the program may have put anything there */
    FILE *log = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(file, "r") : NULL;
    if (file >= 0 && !log) close(file);
    bool cut = log && info.st_size > START + END;
    if (log) read_line(log, cut ? START : START + END, first);
    if (cut && fseek(log, -END, SEEK_END) == 0) read_line(log, END, last);
    if (log) fclose(log);
    if (cut) cut_end(first);
    nb_hide_chance(first, folder, pid);
    nb_hide_chance(last, folder, pid);
    NB_NEED(*words, nb_format(ctx, "%s%s%s%s", *first || cut ? ": " : "", first, cut ? "|..." : "", cut_start(last)));
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
