# The files of SQL as C: what they are, byte by byte, and the records of tables and figures from the directives that
# they begin with. A directive that there is none of, or that is not of such a file, is an error.
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
    bad = 1
}
# A word in braces (src/rows/statement.h) that does not end, or ends without a beginning, would stay in the SQL.
function check_braces(    rest, open, is) {
    for (rest = text; match(rest, /[{}]/); rest = substr(rest, RSTART + 1)) {
        is = substr(rest, RSTART, 1) == "{"
        if (is == open) break
        open = is
    }
    if (RSTART || open) complain(path (statement ? ", " statement : ""), "a { without its }, or a } without its {")
}
# A text by its name: of a file, or of one of its statements.
function end_text(id, study, folder, name,    i) {
    check_braces()
    printf "static const char %s[] = {", id
    for (i = 1; i <= length(text); i++) printf "%s%d,", i % 20 ? "" : "\n", code[substr(text, i, 1)]
    print "0};"
    files = files "    {\"" study "\", \"" folder "\", \"" name "\", " id "},\n"
}
# What stands between one "-- name: NAME" and the comment before the next; what is before the first is about the file.
function end_statement() {
    sub(/\n(--[^\n]*\n)+$/, "\n", text)
    if (statement) end_text("_" folder "_" file "_" statement, "", folder, file "." statement)
    text = ""
}
function end_file() {
    if (!path) return
    if (statement) {
        end_statement()
        statement = ""
        return
    }
    if (path ~ /\/figures\// && !script)
        complain(path, "a figure is a table with a script, and has no `-- script: NAME.gp`")
    if (split(path, part, "/") == 3) split("src/studies//" part[2] "/" part[3], part, "/") # of no study
    name = part[5]
    sub(/\.sql$/, "", name)
    id = part[3] "_" part[4] "_" name
    end_text(id, part[3], part[4], name)
    kind = part[4] == "tables" ? "table" : part[4] == "figures" ? "figure" : ""
    if (kind)
        printf "static const char *const %s_references[] = {%s NULL};\n" \
               "const nb_%s nb_%s_%s = {.component = {\"%s\", %s, %s_references, no_options, 0}, .study = \"%s\", " \
               ".sql = %s, .place = %d%s};\n", id, references, kind, kind, name, name, c_string(summary), id, part[3],
               id, place, fields
    text = references = summary = fields = script = ""
    place = 0
}
BEGIN {
    know("tables figures", "summary reference place needs")
    know("tables", "exists file flags heading formula labels format headless")
    know("tables", "shared above holds remark paragraph word note")
    know("figures", "is compares prepare script title data arrays ticks bars set most")
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
    print "/* made by the Makefile from the files of SQL: do not edit */"
    print "#include \"rows/relation.h\"\n#include \"show/figure.h\"\n#include \"show/table.h\""
    print "static const nb_option no_options[] = {NB_OPTION_END};"
}
FNR == 1 {
    end_file()
    path = FILENAME
    heading = before = 1
    kind_of_file = path ~ /\/figures\// ? "figures" : path ~ /\/views\/|^src\/(run|rows|answers)\// ? "" : "tables"
}
/^-- name: / && (depth = split(FILENAME, part, /[\/.]/)) < 6 { # src/FOLDER/FILE.sql, src/studies/FOLDER/FILE.sql
    end_statement()
    folder = part[depth - 2]
    file = part[depth - 1]
    statement = $3
    next
}
{ text = text $0 "\n" }
!/^--/ { heading = 0; before = $0 == "" }
kind_of_file && before && match($0, /^-- [a-z_]+: /) {
    name = substr($0, 4, RLENGTH - 5)
    if (!(name in known))
        complain(path ":" FNR, "no directive `-- " name ":`; src/show/query.h has all")
    else if (known[name] !~ kind_of_file)
        complain(path ":" FNR, "the directive `-- " name ":` is not of " kind_of_file)
}
heading && /^-- script: / { script = $3 }
heading && /^-- summary: / { summary = substr($0, 13); last = "summary" }
heading && /^-- reference: / { references = references c_string(substr($0, 15)) ", " }
heading && /^-- place: / { place = $3 }
heading && /^-- file: / { fields = fields ", .file = " c_string($3) }
heading && /^-- compares: / { fields = fields ", .compares = " c_string($3) }
heading && /^-- prepare: / {
    print "nb_figure_prepare nb_prepare_" $3 ";"
    fields = fields ", .prepare = nb_prepare_" $3
}
heading && /^-- is: / { for (i = 3; i <= NF; i++) fields = fields ", ." $i " = true" }
END {
    end_file()
    if (bad) exit 1
    print "const nb_sql_file nb_sql_files[] = {\n" files "    {NULL, NULL, NULL, NULL}};"
}
