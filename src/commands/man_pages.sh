#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# man_pages.sh PROGRAM FOLDER - writes pages for man(1) into FOLDER/man1, man5 and man7, from the pages that PROGRAM
# 'help' prints for a terminal: their headings become sections, and the rest stands as it is printed. Their date is
# SOURCE_DATE_EPOCH.
set -eu
program=$1 folder=$2
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)
version=$("$program" --version)
mkdir -p "$folder/man1" "$folder/man5" "$folder/man7"
for topic in nysbench $("$program" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p') config columns components; do
    case $topic in config) section=5 ;; columns | components) section=7 ;; *) section=1 ;; esac
    case $topic in nysbench) name=nysbench ;; *) name=nysbench-$topic ;; esac
    COLUMNS=76 "$program" help "$topic" | awk -v title="$name" -v section=$section -v date="$date" -v version="$version" '
        function heading(macro, text) {
            print (plain ? ".fi\n" : "") macro " " text
            plain = blank = 0
        }
        BEGIN {
            print ".\\\" made by man_pages.sh: do not edit"
            printf ".TH %s %d %s \"%s\" \"nysbench manual\"\n", toupper(title), section, date, version
        }
        { gsub(/\\/, "\\e"); gsub(/-/, "\\-") }
        /^$/ { blank = 1; next }
        /^[^ ]/ { heading(".SH", $0); named = $0 == "NAME"; next }
        /^  [^ ]/ { heading(".SS", $0); next }
        {
            sub(named ? "^ *" : "^    ", "")
            sub(/^[.'\'']/, "\\\\\\&&")
            if (!named && !plain) print ".nf"
            if (plain && blank) print ""
            plain = !named
            blank = 0
            print
        }
        END {
            heading(".SH", "SEE ALSO")
            print title == "nysbench" ? "nysbench\\-run(1)," : "nysbench(1),"
            print "nysbench\\-config(5), nysbench\\-columns(7), nysbench\\-components(7)"
        }' >"$folder/man$section/$name.$section"
done
