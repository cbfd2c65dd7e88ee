/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual.c - see command.h. A page is the file manual/TOPIC.txt, which src/make/manual.c writes when the program is
 * built. It has each heading and paragraph in one line, with a tab before its first word. What follows the tab is
 * wrapped, below its first word; a line without a tab, such as one of code, is printed as it is. */
#include "commands/command.h"

#include "base/files.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char ABOUT[] = "measure what approximations of attention lose";
static const char COMMANDS[] = "commands.md"; /* one of the documents, to find their folder */
static const char GLOSSARY[] = "method";      /* the page with the section "Glossary": words, each with its meaning */

const nb_command *nb_command_next(const nb_command *before)
{
    const nb_command *next = NULL;
    for (int i = 0; nb_commands[i]; i++) {
        int place = nb_commands[i]->place;
        if (place > (before ? before->place : 0) && (!next || place < next->place)) next = nb_commands[i];
    }
    return next;
}

static nb_status add_document(const char *folder, const char *file, nb_topic *topics, int *count, nb_ctx *ctx)
{
    nb_topic *t = &topics[*count];
    const char *text;
    char *name;
    NB_NEED(name, nb_format(ctx, "%.*s", (int)strlen(file) - 3, file));
    for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
    if (nb_manual_find(topics, *count, name)) NB_NEED(name, nb_format(ctx, "%s.md", name));
    *t = (nb_topic){.name = name};
    NB_NEED(t->path, nb_format(ctx, "%s/%s", folder, file));
    ++*count;
    /* The text of its first heading */
    NB_TRY(ctx, nb_read_file(t->path, &text, ctx));
    NB_REQUIRE(ctx, strncmp(text, "# ", 2) == 0, NB_EINVAL, "%s: does not begin with a heading, '# ...'", t->path);
    NB_NEED(t->summary, nb_format(ctx, "%.*s", (int)strcspn(text + 2, "\n"), text + 2));
    return NB_OK;
}

nb_status nb_manual_topics(nb_topic **topics, int *count, nb_ctx *ctx)
{
    const char *file, *folder, **names;
    nb_topic *list;
    int commands = 0, files;
    NB_TRY(ctx, nb_shared_file("docs", COMMANDS, &file, ctx));
    NB_TRY(ctx, nb_folder_of(file, &folder, ctx));
    NB_TRY(ctx, nb_folder_names(folder, ".md", &files, &names, ctx));
    while (nb_commands[commands]) commands++;
    NB_NEED(list, nb_alloc(ctx, (size_t)(1 + commands + files), sizeof *list));
    *topics = list;
    *count = 0;
    list[(*count)++] = (nb_topic){.name = "nysbench", .summary = ABOUT};
    for (const nb_command *c = nb_command_next(NULL); c; c = nb_command_next(c))
        list[(*count)++] = (nb_topic){.name = c->name, .summary = c->summary, .command = c};
    for (int i = 0; i < files; i++) NB_TRY(ctx, add_document(folder, names[i], list, count, ctx));
    return NB_OK;
}

const nb_topic *nb_manual_find(const nb_topic *topics, int count, const char *name)
{
    size_t length = strlen(name);
    bool ended = length > 3 && strcasecmp(name + length - 3, ".md") == 0;
    for (int i = 0; i < count; i++)
        if (strcasecmp(topics[i].name, name) == 0) return &topics[i];
    for (int i = 0; ended && i < count; i++)
        if (topics[i].path && strncasecmp(topics[i].name, name, length - 3) == 0 && !topics[i].name[length - 3])
            return &topics[i];
    return NULL;
}

static nb_status read_page(const char *topic, const char **text, nb_ctx *ctx)
{
    const char *file, *path;
    NB_NEED(file, nb_format(ctx, "%s.txt", topic));
    NB_TRY(ctx, nb_shared_file("manual", file, &path, ctx));
    return nb_read_file(path, text, ctx);
}

/* Whether a cell of several words, "S, F, X", has one of them. */
static bool has_word(const char *cell, size_t length, const char *word)
{
    for (const char *at = cell, *end; at < cell + length; at = end + strspn(end, ", ")) {
        end = at + strcspn(at, ",\n");
        while (end > at && end[-1] == ' ') end--;
        if ((size_t)(end - at) == strlen(word) && strncasecmp(at, word, strlen(word)) == 0) return true;
    }
    return false;
}

nb_status nb_manual_word(const char *word, nb_topic *topic, bool *found, nb_ctx *ctx)
{
    static const char section[] = "\n\tGlossary\n", term[] = "\n    \t", meaning[] = "\n        \t";
    const char *page;
    *found = false;
    NB_TRY(ctx, read_page(GLOSSARY, &page, ctx));
    const char *from = strstr(page, section);
    NB_REQUIRE(ctx, from, NB_EINVAL, "manual/%s.txt: has no section 'Glossary'", GLOSSARY);
    for (const char *line = from + strlen(section) - 1; (line[1] == ' ' || line[1] == '\n') && !*found;) {
        const char *name = line + strlen(term), *end = line + 1 + strcspn(line + 1, "\n");
        bool is_term = strncmp(line, term, strlen(term)) == 0 && strncmp(end, meaning, strlen(meaning)) == 0;
        line = end;
        *found = is_term && has_word(name, (size_t)(end - name), word);
        if (!*found) continue;
        const char *told = end + strlen(meaning);
        *topic = (nb_topic){.word = true};
        NB_NEED(topic->name, nb_format(ctx, "%.*s", (int)(end - name), name));
        NB_NEED(topic->summary, nb_format(ctx, "%.*s", (int)strcspn(told, "\n"), told));
    }
    return NB_OK;
}

nb_status nb_manual_print(const nb_topic *topic, int width, FILE *out, nb_ctx *ctx)
{
    const char *page;
    char *lines, *line;
    if (topic->word)
        NB_NEED(page,
                nb_format(ctx, "    \t%s\n        \t%s\n\n    \tnysbench help %s has all words of the glossary.\n",
                          topic->name, topic->summary, GLOSSARY));
    else
        NB_TRY(ctx, read_page(topic->name, &page, ctx));
    NB_NEED(lines, nb_strdup(ctx, page));
    while ((line = strsep(&lines, "\n")) && lines) {
        int lead = (int)strcspn(line, "\t");
        fprintf(out, "%.*s", lead, line);
        if (line[lead]) nb_text_wrap(out, lead, lead, width, line + lead + 1);
        fputc('\n', out);
    }
    return NB_OK;
}
