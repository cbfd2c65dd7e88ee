/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml.c - libyaml's documents. */
#include "config/yaml.h"

#include "base/files.h"

#include <errno.h>
#include <stdio.h>
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

const char *nb_yaml_kind(nb_yaml value)
{
    return value.node->type == YAML_MAPPING_NODE    ? "a mapping"
           : value.node->type == YAML_SEQUENCE_NODE ? "a list"
                                                    : "a value with a NUL byte";
}

static void delete_document(void *document)
{
    yaml_document_delete(document);
    free(document);
}

static nb_status yaml_mistake(nb_mistakes *mistakes, const yaml_parser_t *parser, const char *source, bool in_file)
{
    const char *tab = parser->problem && strstr(parser->problem, "cannot start any token")
                          ? " (a tab, '%', '@' or '`'? YAML indents with spaces)"
                          : "";
    nb_place at = {.source = source};
    if (in_file) at = (nb_place){source, (int)parser->problem_mark.line + 1, (int)parser->problem_mark.column + 1};
    return nb_mistakes_add(mistakes, at, "not YAML: %s%s%s%s", parser->context ? parser->context : "",
                           parser->context ? ", " : "", parser->problem ? parser->problem : "unreadable", tab);
}

/* Loads the parser's one document; *document = NULL if that was a mistake. */
static nb_status load_document(nb_mistakes *mistakes, yaml_parser_t *parser, const char *source, bool in_file,
                               yaml_document_t **document)
{
    yaml_document_t *loaded = malloc(sizeof *loaded), next;
    *document = NULL;
    NB_REQUIRE(mistakes->ctx, loaded, NB_ENOMEM, "out of memory: a YAML document");
    if (!yaml_parser_load(parser, loaded)) {
        free(loaded);
        NB_REQUIRE(mistakes->ctx, parser->error != YAML_MEMORY_ERROR, NB_ENOMEM, "out of memory: a YAML document");
        return yaml_mistake(mistakes, parser, source, in_file);
    }
    NB_TRY(mistakes->ctx, nb_defer(mistakes->ctx, delete_document, loaded));
    if (!yaml_document_get_root_node(loaded))
        return nb_mistakes_add(mistakes, (nb_place){.source = source},
                               in_file ? "is empty; a config needs problems, strategies and cores"
                                       : "expected a value, found nothing");
    if (!yaml_parser_load(parser, &next)) return yaml_mistake(mistakes, parser, source, in_file);
    bool more = yaml_document_get_root_node(&next);
    yaml_document_delete(&next);
    if (more) return nb_mistakes_add(mistakes, (nb_place){.source = source}, "holds more than one YAML document");
    *document = loaded;
    return NB_OK;
}

/* Where a text goes beyond what libyaml reads in a time that does not grow with the square of its length; NULL: it
 * stays below, or is no YAML, which the parser tells. */
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
    nb_status status = load_document(mistakes, &parser, root->source, root->in_file, &root->document);
    yaml_parser_delete(&parser);
    if (root->document) root->node = yaml_document_get_root_node(root->document);
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
