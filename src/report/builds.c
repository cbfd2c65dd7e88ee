/* builds.c - see builds.h */
#include "report/builds.h"

#include "base/digest.h"

nb_status nb_builds_print(FILE *out, const char *prefix, const char *after, nb_store *store, nb_ctx *ctx)
{
    nb_measured_by *by;
    int count;
    NB_TRY(ctx, nb_store_programs(store, &count, &by, ctx));
    if (count < 2) return NB_OK;
    fprintf(out, "%sthese rows come from %d builds: ", prefix, count);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%d of %s (executable %.*s)", i ? ", " : "", by[i].rows, by[i].program.build, NB_DIGEST_SHOWN,
                by[i].program.executable);
    fprintf(out, "%s\n", after);
    return NB_OK;
}
