# SPDX-License-Identifier: GPL-3.0-or-later
# make install and make uninstall: what is put where, what works from there, and that it goes again, and nothing else.

load helpers

# into TARGET: install-files is install without a look at what there is to build.
into() {
    make -s "$1" DESTDIR="$WORK/root" PREFIX=/usr
}

things() {
    find "$WORK/root" -mindepth 1 | sort
}

@test "install puts pages, completions, documents and templates, and the program finds them" {
    into install
    local usr=$WORK/root/usr
    for file in bin/nysbench lib/libnysbench.so include/nysbench.h share/man/man1/nysbench-run.1 \
        share/man/man5/nysbench-config.5 share/bash-completion/completions/nysbench share/zsh/site-functions/_nysbench \
        share/fish/vendor_completions.d/nysbench.fish share/nysbench/docs/config.md share/nysbench/templates/core.c; do
        [ -s "$usr/$file" ] || { echo "no $file"; return 1; }
    done
    # complete.c and attend.c have none, the program one
    [ "$(find "$usr/share/man" -type f | wc -l)" = "$(($(grep -l '^NB_COMMAND' src/commands/*.c | wc -l) + 2))" ]
    cd "$WORK"
    run "$usr/bin/nysbench" help confi
    expect "'config'"
    run "$usr/bin/nysbench" help config
    expect_status 0
    expect "nysbench-config"
    "$usr/bin/nysbench" new core mine
    [ -s mine.c ]
    run bash -c "source '$usr/share/bash-completion/completions/nysbench'; complete -p nysbench"
    expect_status 0
    if command -v man >/dev/null; then
        MANPATH=$usr/share/man run man nysbench-run
        expect_status 0
        expect "--dry-run"
    fi
}

@test "uninstall leaves what was there before, and what others have put there since" {
    mkdir -p "$WORK/root/usr/share/man/man1" "$WORK/root/usr/bin"
    echo other >"$WORK/root/usr/bin/other"
    things >"$WORK/before"
    into install
    into install-files # again: what the first has made is still known
    [ "$(things | wc -l)" -gt 100 ]
    into uninstall
    things | diff "$WORK/before" -
    into install-files
    echo mine >"$WORK/root/usr/share/nysbench/mine"
    into uninstall
    [ "$(things | diff "$WORK/before" - | grep -c '^>')" -eq 2 ]
    [ -f "$WORK/root/usr/share/nysbench/mine" ]
    run into uninstall
    [ "$status" -ne 0 ]
    output=$(grep 'nothing' <<<"$output") tell make uninstall
}
