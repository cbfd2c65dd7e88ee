/* SPDX-License-Identifier: GPL-3.0-or-later */
/* component_facts.c - the answers belong to the process, as the registries do. */
#include "components/component_facts.h"

#include "base/apart.h"
#include "components/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kept kept;
struct kept {
    nb_tell_fact *tell;
    const nb_component *component;
    size_t question_bytes, answer_bytes;
    bool told; /* it has answered */
    char *canonical, *question, *answer;
    kept *next;
};

static kept *answers;

static const kept *find(const nb_choice *of, nb_tell_fact *tell, const void *question, size_t bytes)
{
    const kept *k = answers;
    while (k &&
           !(k->tell == tell && k->component == of->component && k->question_bytes == bytes &&
             (bytes == 0 || memcmp(k->question, question, bytes) == 0) && strcmp(k->canonical, of->canonical) == 0))
        k = k->next;
    return k;
}

typedef struct {
    const nb_choice *of;
    nb_tell_fact *tell;
    const void *question;
    void *answer;
} call;

static nb_status act(void *self, nb_ctx *ctx)
{
    const call *c = self;
    NB_TRY(ctx, nb_plugin_open(c->of, ctx));
    c->tell(c->of, c->question, c->answer);
    return NB_OK;
}

static bool ask(const nb_choice *of, const char *function, call *c, size_t bytes)
{
    nb_ctx *ctx = nb_ctx_new();
    nb_status status = ctx ? nb_apart(act, c, nb_ctx_patience(ctx), c->answer, bytes, ctx) : NB_ENOMEM;
    if (status != NB_OK)
        fprintf(stderr, "nysbench: warning: %s: %s: calling its %s: %s\n", nb_plugin_of(of->component), of->label,
                function, ctx ? nb_error_message(ctx) : "out of memory");
    nb_ctx_free(ctx);
    return status == NB_OK;
}

/* Without memory the answer is not kept. */
static void keep_answer(const nb_choice *of, nb_tell_fact *tell, const void *question, size_t question_bytes,
                        const void *answer, size_t answer_bytes, bool told)
{
    size_t name_bytes = strlen(of->canonical) + 1;
    kept *k = malloc(sizeof *k + name_bytes + question_bytes + answer_bytes);
    if (!k) return;
    *k = (kept){.tell = tell, .component = of->component, .question_bytes = question_bytes, .told = told};
    k->answer_bytes = answer_bytes;
    k->canonical = memcpy(k + 1, of->canonical, name_bytes);
    k->question = k->canonical + name_bytes;
    if (question_bytes > 0) memcpy(k->question, question, question_bytes);
    k->answer = memcpy(k->question + question_bytes, answer, answer_bytes);
    k->next = answers;
    answers = k;
}

bool nb_ask_fact(const nb_choice *of, const char *function, nb_tell_fact *tell, const void *question,
                 size_t question_bytes, void *answer, size_t answer_bytes)
{
    if (!nb_plugin_of(of->component)) {
        tell(of, question, answer);
        return true;
    }
    const kept *k = find(of, tell, question, question_bytes);
    if (!k) {
        bool told = ask(of, function, &(call){of, tell, question, answer}, answer_bytes);
        keep_answer(of, tell, question, question_bytes, answer, answer_bytes, told);
        return told;
    }
    if (k->told) memcpy(answer, k->answer, answer_bytes);
    return k->told;
}
