# The files of SQL as C: what they are, byte by byte, and the records of tables and figures from the comments that they
# begin with.
function c_string(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}
function end_file() {
    if (!path) return
    if (split(path, part, "/") == 3) split("src/studies//report/" part[3], part, "/") # of no study
    name = part[5]
    sub(/\.sql$/, "", name)
    id = part[3] "_" part[4] "_" name
    printf "static const char %s[] = {", id
    for (i = 1; i <= length(text); i++) printf "%s%d,", i % 20 ? "" : "\n", code[substr(text, i, 1)]
    print "0};"
    files = files "    {\"" part[3] "\", \"" part[4] "\", \"" name "\", " id "},\n"
    kind = part[4] == "tables" ? "table" : part[4] == "figures" ? "figure" : ""
    if (kind)
        printf "static const char *const %s_references[] = {%s NULL};\n" \
               "const nb_%s nb_%s_%s = {.component = {\"%s\", %s, %s_references, no_options, 0}, .study = \"%s\", " \
               ".sql = %s, .place = %d%s};\n", id, references, kind, kind, name, name, c_string(summary), id, part[3], id,
               place, fields
    text = references = summary = fields = ""
    place = 0
}
BEGIN {
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
    print "/* made by the Makefile from the files of SQL: do not edit */"
    print "#include \"report/relation.h\"\n#include \"report/figure.h\"\n#include \"report/table.h\"\nstatic const nb_option no_options[] = {NB_OPTION_END};"
}
FNR == 1 { end_file(); path = FILENAME; heading = 1 }
{ text = text $0 "\n" }
!/^--/ { heading = 0 }
heading && /^-- summary: / { summary = substr($0, 13); last = "summary" }
heading && /^-- reference: / { references = references c_string(substr($0, 15)) ", " }
heading && /^-- place: / { place = $3 }
heading && /^-- file: / { fields = fields ", .file = " c_string($3) }
heading && /^-- compares: / { fields = fields ", .compares = " c_string($3) }
heading && /^-- prepare: / { print "nb_figure_prepare nb_prepare_" $3 ";"; fields = fields ", .prepare = nb_prepare_" $3 }
heading && /^-- is: / { for (i = 3; i <= NF; i++) fields = fields ", ." $i " = true" }
END {
    end_file()
    print "const nb_sql_file nb_sql_files[] = {\n" files "    {NULL, NULL, NULL, NULL}};"
}
