/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml.c - libyaml's documents, with merge keys. */
#include "config/yaml.h"

#include "base/files.h"
#include "base/lookalikes.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

nb_place nb_yaml_place(nb_yaml value)
{
    if (!value.in_file) return (nb_place){.source = value.source};
    bool quoted = value.node->type == YAML_SCALAR_NODE && value.node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return (nb_place){value.source, (int)value.node->start_mark.line + 1,
                      (int)value.node->start_mark.column + 1 + quoted};
}

const char *nb_yaml_scalar(nb_yaml value)
{
    if (value.node->type != YAML_SCALAR_NODE) return NULL;
    const char *text = (const char *)value.node->data.scalar.value;
    return strlen(text) == value.node->data.scalar.length ? text : NULL;
}

bool nb_yaml_is_null(nb_yaml value)
{
    const char *text = nb_yaml_scalar(value);
    return text && value.node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

int nb_yaml_count(nb_yaml value)
{
    return value.node->type == YAML_SEQUENCE_NODE
               ? (int)(value.node->data.sequence.items.top - value.node->data.sequence.items.start)
               : 1;
}

nb_yaml nb_yaml_item(nb_yaml value, int index)
{
    if (value.node->type == YAML_SEQUENCE_NODE)
        value.node = yaml_document_get_node(value.document, value.node->data.sequence.items.start[index]);
    return value;
}

int nb_yaml_pairs(nb_yaml value)
{
    return value.node->type == YAML_MAPPING_NODE
               ? (int)(value.node->data.mapping.pairs.top - value.node->data.mapping.pairs.start)
               : 0;
}

void nb_yaml_pair(nb_yaml mapping, int index, nb_yaml *key, nb_yaml *value)
{
    const yaml_node_pair_t *pair = &mapping.node->data.mapping.pairs.start[index];
    *key = *value = mapping;
    key->node = yaml_document_get_node(mapping.document, pair->key);
    value->node = yaml_document_get_node(mapping.document, pair->value);
}

nb_yaml nb_yaml_get(nb_yaml mapping, const char *name)
{
    for (int i = 0; mapping.node && i < nb_yaml_pairs(mapping); i++) {
        nb_yaml key, value;
        nb_yaml_pair(mapping, i, &key, &value);
        if (nb_yaml_scalar(key) && strcmp(nb_yaml_scalar(key), name) == 0) return value;
    }
    return (nb_yaml){.node = NULL};
}

const char *nb_yaml_kind(nb_yaml value)
{
    return value.node->type == YAML_MAPPING_NODE    ? "a mapping"
           : value.node->type == YAML_SEQUENCE_NODE ? "a list"
                                                    : "a value with a NUL byte";
}

const char *nb_yaml_found(nb_yaml value)
{
    const char *text = nb_yaml_scalar(value);
    return text ? text : nb_yaml_kind(value);
}

static void delete_document(void *document)
{
    yaml_document_delete(document);
    free(document);
}

/* The text that the parser reads; it is 0-terminated. */
static const char *text_of(const yaml_parser_t *parser, size_t *length)
{
    *length = (size_t)(parser->input.string.end - parser->input.string.start);
    return (const char *)parser->input.string.start;
}

/* Moves a place, from 1:1 at the start of a text, to the end of its first `bytes`; what is no UTF-8 ends it before. */
static nb_place place_behind(nb_place place, const char *text, size_t bytes)
{
    const char *at = text, *end = text + bytes;
    place.line = place.column = 1;
    if (strncmp(at, "\xef\xbb\xbf", 3) == 0) at += 3; /* a byte order mark has no column */
    for (size_t own; at < end && (own = nb_text_character(at)) > 0; at += own) {
        bool ends = *at == '\n' || (*at == '\r' && at[1] != '\n');
        place.line += ends;
        place.column = ends ? 1 : place.column + 1;
    }
    return place;
}

/* A byte or character that no YAML may have, for which the parser tells the offset alone. */
static nb_status reader_mistake(const nb_yaml *root, const yaml_parser_t *parser, nb_mistakes *mistakes)
{
    const char *problem = parser->problem ? parser->problem : "unreadable", *what = "";
    nb_place at = {.source = root->source};
    size_t length;
    const char *text = text_of(parser, &length);
    bool octet = strstr(problem, "octet"), utf8 = parser->encoding == YAML_UTF8_ENCODING;
    if (parser->problem_value >= 0)
        NB_NEED(what, nb_format(mistakes->ctx, octet ? ": byte 0x%02x" : ": U+%04X", (unsigned)parser->problem_value));
    if (root->in_file && utf8)
        at = place_behind(at, text, parser->problem_offset < length ? parser->problem_offset : length);
    return nb_mistakes_add(mistakes, at, "not YAML: %s%s%s", problem, what, octet ? "; save the file as UTF-8" : "");
}

/* Returns where line `line`, from 0, begins. */
static const char *find_line(const char *text, size_t line)
{
    for (const char *end; line > 0 && (end = strchr(text, '\n')); line--) text = end + 1;
    return text;
}

/* Names a character that YAML takes for a letter and people for a blank or a quote, in the lines of the mistake or in
 * the one before them, where a text that goes on may have begun. */
static nb_status name_lookalike(const nb_yaml *root, const yaml_parser_t *parser, const char **named, nb_ctx *ctx)
{
    size_t length, last = parser->problem_mark.line, first = last;
    const char *text = text_of(parser, &length), *told;
    if (parser->context && parser->context_mark.line < first) first = parser->context_mark.line;
    const char *from = find_line(text, first > 0 ? first - 1 : 0), *end = find_line(text, last);
    const char *found = nb_lookalike(from, (size_t)(end - from) + strcspn(end, "\n"));
    *named = "";
    if (!found) return NB_OK;
    nb_place at = place_behind((nb_place){.source = root->source}, text, (size_t)(found - text));
    NB_NEED(told, nb_lookalike_told(found, ctx));
    NB_NEED(*named, nb_format(ctx, "; line %d, column %d has %s", at.line, at.column, told));
    return NB_OK;
}

static nb_status yaml_mistake(const nb_yaml *root, const yaml_parser_t *parser, nb_mistakes *mistakes)
{
    const char *tab = parser->problem && strstr(parser->problem, "cannot start any token")
                          ? " (a tab, '%', '@' or '`'? YAML indents with spaces)"
                          : "",
               *named;
    nb_place at = {.source = root->source};
    if (parser->error == YAML_READER_ERROR) return reader_mistake(root, parser, mistakes);
    if (root->in_file) at.line = (int)parser->problem_mark.line + 1, at.column = (int)parser->problem_mark.column + 1;
    NB_TRY(mistakes->ctx, name_lookalike(root, parser, &named, mistakes->ctx));
    return nb_mistakes_add(mistakes, at, "not YAML: %s%s%s%s%s", parser->context ? parser->context : "",
                           parser->context ? ", " : "", parser->problem ? parser->problem : "unreadable", tab, named);
}

typedef struct {
    nb_yaml root;
    char *state; /* by node: not seen, being merged, done */
    nb_mistakes *mistakes;
} merger;

enum { UNSEEN, BEGUN, DONE };

static nb_yaml value_of(const merger *m, int node)
{
    nb_yaml value = m->root;
    value.node = yaml_document_get_node(value.document, node);
    return value;
}

static bool is_merge_key(const yaml_node_t *key)
{
    return key->type == YAML_SCALAR_NODE && key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           strcmp((const char *)key->data.scalar.value, "<<") == 0;
}

static nb_status resolve(merger *m, int node);

/* The pairs of one mapping, which is merged itself before. */
static nb_status add_pairs(merger *m, int into, int from)
{
    nb_yaml source = value_of(m, from);
    if (source.node->type != YAML_MAPPING_NODE)
        return nb_yaml_mistake(source, m->mistakes, "'<<' takes a mapping or a list of mappings, as *anchor; found %s",
                               nb_yaml_scalar(source) ? "a value" : nb_yaml_kind(source));
    if (m->state[from] == BEGUN)
        return nb_yaml_mistake(source, m->mistakes, "'<<': a mapping cannot be merged into itself");
    NB_TRY(m->mistakes->ctx, resolve(m, from));
    for (int i = 0; i < nb_yaml_pairs(source); i++) {
        yaml_node_pair_t pair = source.node->data.mapping.pairs.start[i];
        const char *key = nb_yaml_scalar(value_of(m, pair.key));
        if (key && nb_yaml_get(value_of(m, into), key).node) continue;
        NB_REQUIRE(m->mistakes->ctx, yaml_document_append_mapping_pair(m->root.document, into, pair.key, pair.value),
                   NB_ENOMEM, "out of memory: a YAML document");
    }
    return NB_OK;
}

/* Takes merge keys out, and puts what they stand for behind the mapping's own pairs. */
static nb_status resolve(merger *m, int mapping)
{
    yaml_node_t *node = value_of(m, mapping).node;
    if (node->type != YAML_MAPPING_NODE || m->state[mapping] != UNSEEN) return NB_OK;
    m->state[mapping] = BEGUN;
    for (int i = 0; i < nb_yaml_pairs(value_of(m, mapping));) {
        yaml_node_pair_t *pair = &node->data.mapping.pairs.start[i];
        if (!is_merge_key(value_of(m, pair->key).node)) {
            i++;
            continue;
        }
        int from = pair->value;
        const nb_yaml value = value_of(m, from);
        memmove(pair, pair + 1, (size_t)(node->data.mapping.pairs.top - (pair + 1)) * sizeof *pair);
        node->data.mapping.pairs.top--;
        const int *items = value.node->type == YAML_SEQUENCE_NODE ? value.node->data.sequence.items.start : &from;
        for (int k = 0; k < nb_yaml_count(value); k++) NB_TRY(m->mistakes->ctx, add_pairs(m, mapping, items[k]));
    }
    m->state[mapping] = DONE;
    return NB_OK;
}

/* Merge keys of YAML 1.1: `<<: *anchor`, or a list of anchors, stands for the pairs of those mappings whose keys the
 * mapping does not have itself; of several the first one that has a key counts. */
static nb_status merge(const nb_yaml *root, nb_mistakes *mistakes)
{
    merger m = {.root = *root, .mistakes = mistakes};
    int count = (int)(root->document->nodes.top - root->document->nodes.start);
    NB_NEED(m.state, nb_alloc(mistakes->ctx, (size_t)count + 1, sizeof *m.state));
    for (int node = 1; node <= count; node++) NB_TRY(mistakes->ctx, resolve(&m, node));
    return NB_OK;
}

/* Loads the parser's one document; root->node stays NULL if that was a mistake. */
static nb_status load_document(nb_yaml *root, yaml_parser_t *parser, nb_mistakes *mistakes)
{
    yaml_document_t *loaded = malloc(sizeof *loaded), next;
    const nb_place at = {.source = root->source};
    NB_REQUIRE(mistakes->ctx, loaded, NB_ENOMEM, "out of memory: a YAML document");
    if (!yaml_parser_load(parser, loaded)) {
        free(loaded);
        NB_REQUIRE(mistakes->ctx, parser->error != YAML_MEMORY_ERROR, NB_ENOMEM, "out of memory: a YAML document");
        return yaml_mistake(root, parser, mistakes);
    }
    NB_TRY(mistakes->ctx, nb_defer(mistakes->ctx, delete_document, loaded));
    if (!yaml_document_get_root_node(loaded))
        return nb_mistakes_add(mistakes, at,
                               root->in_file ? "is empty; a config needs problems, strategies and cores"
                                             : "expected a value, found nothing");
    if (!yaml_parser_load(parser, &next)) return yaml_mistake(root, parser, mistakes);
    bool more = yaml_document_get_root_node(&next);
    yaml_document_delete(&next);
    if (more) return nb_mistakes_add(mistakes, at, "holds more than one YAML document");
    root->document = loaded;
    root->node = yaml_document_get_root_node(loaded);
    return merge(root, mistakes);
}

/* Finds where a text exceeds what libyaml reads without time that grows with the square of its length; NULL: nowhere,
 * or it is no YAML, which the parser reports. */
static const char *find_excess(const char *text, size_t length, yaml_mark_t *where)
{
    enum { MOST_DEPTH = 100, MOST_NAMES = 1000 };
    yaml_parser_t parser;
    yaml_token_t token;
    int depth = 0, names = 0;
    bool more = yaml_parser_initialize(&parser);
    if (more) yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (more && depth <= MOST_DEPTH && names <= MOST_NAMES && yaml_parser_scan(&parser, &token)) {
        switch ((int)token.type) {
        case YAML_BLOCK_SEQUENCE_START_TOKEN:
        case YAML_BLOCK_MAPPING_START_TOKEN:
        case YAML_FLOW_SEQUENCE_START_TOKEN:
        case YAML_FLOW_MAPPING_START_TOKEN: depth++; break;
        case YAML_BLOCK_END_TOKEN:
        case YAML_FLOW_SEQUENCE_END_TOKEN:
        case YAML_FLOW_MAPPING_END_TOKEN: depth--; break;
        case YAML_ANCHOR_TOKEN:
        case YAML_TAG_DIRECTIVE_TOKEN: names++; break;
        case YAML_STREAM_END_TOKEN: more = false; break;
        }
        *where = token.start_mark;
        yaml_token_delete(&token);
    }
    yaml_parser_delete(&parser);
    return depth > MOST_DEPTH   ? "lists and mappings are nested more than 100 deep"
           : names > MOST_NAMES ? "more than 1000 anchors (&NAME) and %TAG directives"
                                : NULL;
}

static nb_status load(nb_yaml *root, const char *text, size_t length, nb_mistakes *mistakes)
{
    yaml_parser_t parser;
    yaml_mark_t where = {.line = 0};
    const char *excess = find_excess(text, length, &where);
    nb_place at = {.source = root->source};
    if (root->in_file) at.line = (int)where.line + 1, at.column = (int)where.column + 1;
    if (excess) return nb_mistakes_add(mistakes, at, "%s", excess);
    NB_REQUIRE(mistakes->ctx, yaml_parser_initialize(&parser), NB_ENOMEM, "out of memory: a YAML parser");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    nb_status status = load_document(root, &parser, mistakes);
    yaml_parser_delete(&parser);
    return status;
}

nb_status nb_yaml_text(const char *text, const char *source, nb_yaml *root, nb_mistakes *mistakes)
{
    *root = (nb_yaml){.source = source};
    return load(root, text, strlen(text), mistakes);
}

/* All of a file, which may be a pipe. */
static nb_status read_all(FILE *file, const char *path, const char **text, size_t *length, nb_ctx *ctx)
{
    enum { MOST_BYTES = 16 << 20 };
    char *buffer = NULL;
    int count = 0, room = 0;
    size_t got;
    do {
        NB_GROW(ctx, buffer, count, room);
        count += (int)(got = fread(buffer + count, 1, (size_t)(room - count), file));
    } while (got > 0 && count <= MOST_BYTES);
    NB_REQUIRE(ctx, !ferror(file), NB_EIO, "%s: cannot be read", path);
    NB_REQUIRE(ctx, count <= MOST_BYTES, NB_EINVAL, "%s: has more than 16 MiB, the most that is read as YAML", path);
    buffer[count] = '\0'; /* which has room, since something more was asked for */
    *text = buffer;
    *length = (size_t)count;
    return NB_OK;
}

nb_status nb_yaml_file(const char *path, nb_yaml *root, nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    struct stat info;
    const char *place, *text;
    size_t length;
    *root = (nb_yaml){.source = path, .in_file = true};
    NB_TRY(ctx, nb_shipped_path(path, &place, ctx));
    NB_REQUIRE(ctx, stat(place, &info) != 0 || !S_ISDIR(info.st_mode), NB_EIO,
               "%s: is a folder, expected an experiment's file", path);
    FILE *file = fopen(place, "rb");
    NB_REQUIRE(ctx, file, NB_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    nb_status status = read_all(file, path, &text, &length, ctx);
    fclose(file);
    NB_TRY(ctx, status);
    return load(root, text, length, mistakes);
}

/* What YAML 1.1 does not take as it is, beside quotes, backslashes and control characters: it refuses three, and takes
 * two for the end of a line. */
static const struct {
    const char *bytes, *escape;
} refused[] = {{"\xe2\x80\xa8", "\\u2028"},
               {"\xe2\x80\xa9", "\\u2029"},
               {"\xef\xbb\xbf", "\\ufeff"},
               {"\xef\xbf\xbe", "\\ufffe"},
               {"\xef\xbf\xbf", "\\uffff"}};

/* Returns the bytes of a character that has to be escaped, all but the ASCII ones; 0: of no such. */
static size_t escape(FILE *out, const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0) { /* U+0080 to U+009F */
        fprintf(out, "\\x%02x", byte[1]);
        return 2;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        size_t length = strlen(refused[i].bytes);
        if (strncmp(text, refused[i].bytes, length) != 0) continue;
        fputs(refused[i].escape, out);
        return length;
    }
    return 0;
}

void nb_yaml_print_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text) {
        size_t length = escape(out, text);
        text += length;
        if (length) continue;
        if (*text == '"' || *text == '\\') fputc('\\', out);
        if (iscntrl((unsigned char)*text))
            fprintf(out, "\\x%02x", (unsigned char)*text);
        else
            fputc(*text, out);
        text++;
    }
    fputc('"', out);
}
