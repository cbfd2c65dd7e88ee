/* strays.c - strategies that leave something behind or say what no terminal should see, for
 * tests/cli/endings.bats and texts.bats. */
#include "strategy.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {NB_OPTION_END};

/* As daemons do: a session of its own, no parent, no open file, and no death with anybody. */
static void begin_daemon(void)
{
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    prctl(PR_SET_PDEATHSIG, 0);
    for (int fd = 0; fd < 1024; fd++) close(fd);
    if (chdir("/") != 0) _exit(1);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_IGN);
    execlp("sleep", "sleep", "43.21", (char *)NULL);
    _exit(1);
}

static nb_status first(int m, nb_picks *picks)
{
    int *tokens;
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++) tokens[j] = j;
    return NB_OK;
}

static nb_status pick_daemon(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    (void)p, (void)o, (void)ctx;
    begin_daemon();
    return first(m, picks);
}

/* The same, and then it takes its time: whoever ends the run ends it now. */
static nb_status pick_daemon_and_wait(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    (void)p, (void)o, (void)ctx;
    begin_daemon();
    sleep(40);
    return first(m, picks);
}

static nb_status pick_rude(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    (void)p, (void)o, (void)m, (void)picks;
    NB_FAIL(ctx, NB_EINVAL,
            "caf\xe9 \x1b[31mred\x1b]0;title\a \xc2\x9b"
            "5m\r\n");
}

/* A note of its own, which passes no message. */
static nb_status pick_rude_note(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    (void)p, (void)o, (void)ctx;
    picks->note = "na\xefve \x1b[2J";
    return first(m, picks);
}

#define PART(symbol) \
    { \
        "strategy", &stray_##symbol.component \
    }
#define STRAY(symbol) \
    static const nb_strategy stray_##symbol = {.component = {#symbol, "leaves something", references, options, 0}, \
                                               .pairing = NB_JOINT, \
                                               .pick = pick_##symbol}
STRAY(daemon);
STRAY(daemon_and_wait);
STRAY(rude);
STRAY(rude_note);

NB_PLUGIN(PART(daemon), PART(daemon_and_wait), PART(rude), PART(rude_note));
