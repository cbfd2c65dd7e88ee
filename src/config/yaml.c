/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml.c - libyaml's documents. */
#include "config/yaml.h"

#include "base/files.h"

#include <ctype.h>
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

/* Reads a file or, if that is NULL, a text. */
static nb_status load(nb_yaml *root, FILE *file, const char *text, nb_mistakes *mistakes)
{
    yaml_parser_t parser;
    NB_REQUIRE(mistakes->ctx, yaml_parser_initialize(&parser), NB_ENOMEM, "out of memory: a YAML parser");
    if (file)
        yaml_parser_set_input_file(&parser, file);
    else
        yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    nb_status status = load_document(mistakes, &parser, root->source, root->in_file, &root->document);
    yaml_parser_delete(&parser);
    if (root->document) root->node = yaml_document_get_root_node(root->document);
    return status;
}

nb_status nb_yaml_text(const char *text, const char *source, nb_yaml *root, nb_mistakes *mistakes)
{
    *root = (nb_yaml){.source = source};
    return load(root, NULL, text, mistakes);
}

nb_status nb_yaml_file(const char *path, nb_yaml *root, nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    struct stat info;
    const char *place;
    *root = (nb_yaml){.source = path, .in_file = true};
    NB_TRY(ctx, nb_shipped_path(path, &place, ctx));
    NB_REQUIRE(ctx, stat(place, &info) != 0 || !S_ISDIR(info.st_mode), NB_EIO,
               "%s: is a folder, expected an experiment's file", path);
    FILE *file = fopen(place, "rb");
    NB_REQUIRE(ctx, file, NB_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    nb_status status = load(root, file, NULL, mistakes);
    fclose(file);
    return status;
}

/* Returns the code point of a character of three bytes that YAML 1.1 refuses or takes for the end of a line; 0: it is
 * none. */
static unsigned refused_character(const unsigned char *c)
{
    static const unsigned refused[] = {0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff};
    if (*c >> 4 != 0xe || !c[1] || !c[2]) return 0;
    unsigned point = (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (point == refused[i]) return point;
    return 0;
}

void nb_yaml_print_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        unsigned point = refused_character(c);
        if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) /* U+0080 to U+009F */
            fprintf(out, "\\x%02x", *++c);
        else if (point)
            fprintf(out, "\\u%04x", point);
        else if (iscntrl(*c))
            fprintf(out, "\\x%02x", *c);
        else
            fprintf(out, strchr("\"\\", *c) ? "\\%c" : "%c", *c);
        if (point) c += 2;
    }
    fputc('"', out);
}
