#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes the table of commands as C: a file of the folder with a line NB_COMMAND... is a command with the file's name.
#     src/make/commands.sh FOLDER
set -eu
export LC_ALL=C
echo '/* made by src/make/commands.sh: do not edit */'
echo '#include "commands/command.h"'
names=$(grep -l '^NB_COMMAND' "$1"/*.c | sed 's|.*/||; s/\.c$//' | sort)
echo "$names" | sed 's/.*/extern const nb_command nb_command_&;/'
echo 'const nb_command *const nb_commands[] = {'
echo "$names" | sed 's/.*/    \&nb_command_&,/'
echo '    0};'
