/* info.c - nysbench info: the program, the machine and the libraries. */
#include "commands/command.h"

#include "experiment/provenance.h"

#include <stdio.h>

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    struct poptOption options[] = {NB_HELP_OPTION, POPT_TABLEEND};
    const char **arguments, *key;
    json_t *facts, *value;
    int code = nb_command_parse(command, argc, argv, options, 0, 0, &arguments, ctx);
    if (code != NB_GO_ON) return code;
    if (nb_provenance(true, &facts, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    json_object_foreach(facts, key, value) {
        printf("%-20s ", key);
        if (json_is_string(value))
            puts(json_string_value(value));
        else if (json_is_integer(value))
            printf("%lld\n", (long long)json_integer_value(value));
        else
            puts(json_is_true(value) ? "yes" : "no");
    }
    return NB_EXIT_OK;
}

const nb_command nb_command_info = {"info", "", "Show the program's version, the BLAS and the kernels it uses, the machine", run};
