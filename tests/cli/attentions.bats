# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench forward: its outputs are what NumPy makes of the definitions (tests/oracle/attentions.py has the whole of it,
# here is a part), and what it refuses.

load helpers

@test "outputs are those of the definitions" {
    run /usr/bin/python3 tests/oracle/attentions.py "$NYSBENCH" "$WORK" short
    ! grep '^not ok' <<<"$output"
    expect_status 0
}
