#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes the registries of components as C, from the files of the tree. KIND:PLURAL:FOLDER says where the components of
# a kind are: NAME.c, NAME.sql or NAME/NAME.c in FOLDER (a pattern) defines nb_KIND_NAME; TEMPLATE.c and KIND.c are no
# components. Plug-ins may add to the registries of a kind, not to those of an output.
#     src/make/registry.sh KIND:PLURAL:FOLDER... -- OUTPUT:PLURAL:FOLDER...
set -eu
export LC_ALL=C

entries() { # KIND FOLDER-PATTERN: name and file, sorted by name
    for folder in $2; do
        for file in "$folder"/*.c "$folder"/*.sql "$folder"/*/*.c; do
            [ -e "$file" ] || continue
            name=${file##*/}
            name=${name%.*}
            case $file in
            */TEMPLATE.c | */"$1".c | */"$1"/"$1".c) continue ;;
            "$folder"/*/*) [ "$file" = "$folder/$name/$name.c" ] || continue ;;
            esac
            echo "$name $file"
        done
    done | sort
}

record() { # KIND: the type of its records
    if [ "$1" = study ]; then echo nb_full_study; else echo "nb_$1"; fi
}

registry() { # KIND PLURAL FOLDER-PATTERN ROOM REST: its declarations, its entries and itself; ROOM: of so many more
    list=$(entries "$1" "$3")
    [ "$list" ] || { echo "src/make/registry.sh: no $1 in $3" >&2; exit 1; }
    count=$(echo "$list" | wc -l)
    echo "$list" | sed "s/ .*//; s/.*/extern const $(record "$1") nb_$1_&;/"
    echo "static nb_entry $2_entries[$count$4 + 1] = {"
    echo "$list" | sed "s|\(.*\) \(.*\)|    {\"\2\", (const nb_component *)\&nb_$1_\1},|"
    echo '    {0}};'
    echo "const nb_registry nb_$2 = {\"$1\", \"$2\", $2_entries, $count$4 + 1, $5};"
}

cat <<'C'
/* made by src/make/registry.sh from the files in the tree: do not edit */
#include "attentions/attention.h"
#include "components/registry.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "partitions/partition.h"
#include "problems/problem.h"
#include "show/figure.h"
#include "show/full_study.h"
#include "show/table.h"
#include "strategies/strategy.h"
C
all=nb_registries room=' + NB_PLUGIN_ROOM' pointers=
for what; do
    if [ "$what" = -- ]; then
        echo "const nb_registry *const $all[] = {$pointers 0};"
        all=nb_outputs room='' pointers=
        continue
    fi
    IFS=: read -r kind plural folder <<W
$what
W
    rest='NULL, 0, NULL'
    lacks=nb_${kind}_lacks
    [ "$kind" != study ] || lacks=nb_run_study_lacks # which asks nb_study_lacks first
    [ -z "$room" ] || rest="$lacks, sizeof($(record "$kind")), nb_${kind}_texts"
    registry "$kind" "$plural" "$folder" "$room" "$rest"
    pointers="$pointers &nb_$plural,"
done
echo "const nb_registry *const $all[] = {$pointers 0};"
