# The files of SQL as C: what they are, byte by byte, and the records of tables and figures from the directives that
# they begin with. A directive that there is none of, or that is not of such a file, is an error. Each file is read as a
# whole; from one to the next only the list of texts is kept, and whether there was a mistake.
function c_string(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}
function know(kinds, names,    all, i) {
    for (i = split(names, all, " "); i > 0; i--) known[all[i]] = kinds
}
function complain(place, text) {
    print place ": " text > "/dev/stderr"
    mistakes++
}
# A word in braces (src/rows/statement.h) that does not end, or ends without a beginning, would stay in the SQL.
function check_braces(place, text,    open, is) {
    for (; match(text, /[{}]/); text = substr(text, RSTART + 1)) {
        is = substr(text, RSTART, 1) == "{"
        if (is == open) break
        open = is
    }
    if (RSTART || open) complain(place, "a { without its }, or a } without its {")
}
# A text by its name: of a file, or of one of its statements.
function print_text(id, study, folder, name, text,    i) {
    printf "static const char %s[] = {", id
    for (i = 1; i <= length(text); i++) printf "%s%d,", i % 20 ? "" : "\n", code[substr(text, i, 1)]
    print "0};"
    files = files "    {\"" study "\", \"" folder "\", \"" name "\", " id "},\n"
}
# *lines <- those of a file, whose number is returned.
function read_lines(path, lines,    count) {
    while ((getline lines[count + 1] < path) > 0) count++
    close(path)
    return count
}
# Directives stand behind an empty line or another comment; `kind` is that of their file.
function check_directives(path, lines, count, kind,    i, before, name) {
    before = 1
    for (i = 1; i <= count; i++) {
        if (has_statements(path) && lines[i] ~ /^-- name: /) continue
        if (lines[i] !~ /^--/) before = lines[i] == ""
        if (!before || !match(lines[i], /^-- [a-z_]+: /)) continue
        name = substr(lines[i], 4, RLENGTH - 5)
        if (!(name in known))
            complain(path ":" i, "no directive `-- " name ":`; src/show/query.h has all")
        else if (known[name] !~ kind)
            complain(path ":" i, "the directive `-- " name ":` is not of " kind)
    }
}
# Of src/FOLDER/FILE.sql and src/studies/FOLDER/FILE.sql; what is in a folder of a study is one text.
function has_statements(path,    part) {
    return split(path, part, "/") < 5
}
# What stands between one "-- name: NAME" and the comment before the next is a statement; what is before the first is
# about the file. Returns whether there is one.
function print_statements(path, lines, count,    i, part, depth, file, name, text, found, word) {
    depth = split(path, part, /[\/.]/)
    file = part[depth - 1]
    for (i = 1; i <= count + 1; i++) {
        if (i <= count && lines[i] !~ /^-- name: /) {
            text = text lines[i] "\n"
            continue
        }
        sub(/\n(--[^\n]*\n)+$/, "\n", text)
        if (name) check_braces(path ", " name, text)
        if (name) print_text("_" part[depth - 2] "_" file "_" name, "", part[depth - 2], file "." name, text)
        if (i <= count) split(lines[i], word, " ")
        name = word[3]
        found = found || i <= count
        text = ""
    }
    return found
}
# The fields of a record after the last directive that it begins with, `fields` what they are in C.
function print_record(path, id, kind, study, name, lines, count,    i, k, word, value, summary, references, fields,
                      script, place) {
    for (i = 1; i <= count && lines[i] ~ /^--/; i++) {
        if (!match(lines[i], /^-- [a-z_]+: /)) continue
        split(lines[i], word, " ")
        value = substr(lines[i], RLENGTH + 1)
        if (word[2] == "script:") script = word[3]
        if (word[2] == "summary:") summary = value
        if (word[2] == "reference:") references = references c_string(value) ", "
        if (word[2] == "place:") place = word[3]
        if (word[2] == "file:") fields = fields ", .file = " c_string(word[3])
        if (word[2] == "compares:") fields = fields ", .compares = " c_string(word[3])
        if (word[2] == "prepare:") {
            print "nb_figure_prepare nb_prepare_" word[3] ";"
            fields = fields ", .prepare = nb_prepare_" word[3]
        }
        if (word[2] == "is:")
            for (k = 3; k in word; k++) fields = fields ", ." word[k] " = true"
    }
    if (kind == "figure" && !script)
        complain(path, "a figure is a table with a script, and has no `-- script: NAME.gp`")
    printf "static const char *const %s_references[] = {%s NULL};\n" \
           "const nb_%s nb_%s_%s = {.component = {\"%s\", %s, %s_references, no_options, 0}, .study = \"%s\", " \
           ".sql = %s, .place = %d%s};\n", id, references, kind, kind, name, name, c_string(summary), id, study, id,
           place, fields
}
function print_file(path, lines, count,    i, part, text, name, id, kind) {
    for (i = 1; i <= count; i++) text = text lines[i] "\n"
    check_braces(path, text)
    if (split(path, part, "/") == 3) split("src/studies//" part[2] "/" part[3], part, "/") # of no study
    name = part[5]
    sub(/\.sql$/, "", name)
    id = part[3] "_" part[4] "_" name
    print_text(id, part[3], part[4], name, text)
    kind = part[4] == "tables" ? "table" : part[4] == "figures" ? "figure" : ""
    if (kind) print_record(path, id, kind, part[3], name, lines, count)
}
BEGIN {
    know("tables figures", "summary reference place needs cell")
    know("tables", "exists suffices file flags heading formula labels format headless")
    know("tables", "shared above holds remark paragraph word note")
    know("figures", "is compares prepare script title data arrays ticks bars set most")
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
    print "/* made by the Makefile from the files of SQL: do not edit */"
    print "#include \"rows/relation.h\"\n#include \"show/figure.h\"\n#include \"show/table.h\""
    print "static const nb_option no_options[] = {NB_OPTION_END};"
    for (a = 1; a < ARGC; a++) {
        path = ARGV[a]
        count = read_lines(path, lines)
        if (path !~ /\/views\/|^src\/(run|rows|answers)\//)
            check_directives(path, lines, count, path ~ /\/figures\// ? "figures" : "tables")
        if (!has_statements(path) || !print_statements(path, lines, count)) print_file(path, lines, count)
    }
    if (mistakes) exit 1
    print "const nb_sql_file nb_sql_files[] = {\n" files "    {NULL, NULL, NULL, NULL}};"
}
