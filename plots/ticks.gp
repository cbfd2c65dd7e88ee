# SPDX-License-Identifier: GPL-3.0-or-later
# ticks.gp - an axis with its numbers at the values that the data have, as the driver script says: values[], in ascending
# order; log_x, whether the axis is logarithmic; aside[], by how much of the axis each series is shifted. A tick keeps
# its number where the last one is far enough.
#
# Before it is loaded: narrow, how many times farther than usual that is. Afterwards: M, how many values there are;
# at(x, s), where series s stands; room_aside, the share of the axis that shifts take at either end; and ticks_of_x, to
# be evaluated.

M = |values|
place(x) = M < 2 ? 0.5 : log_x ? log(real(x) / values[1]) / log(real(values[M]) / values[1]) : (x - values[1]) / real(values[M] - values[1])
at(x, s) = M < 2 ? x * (1 + aside[s]) : log_x ? x * (real(values[M]) / values[1]) ** aside[s] : x + aside[s] * (values[M] - values[1])
room_aside = 0
do for [s = 1:S] { room_aside = aside[s] > room_aside ? aside[s] : room_aside }
ticks_of_x = "set xtics ("
t = -1
do for [i = 1:M] {
    far = place(values[i]) - t > 0.025 * narrow * (strlen(sprintf("%g", values[i])) + 1)
    t = far ? place(values[i]) : t
    ticks_of_x = ticks_of_x . sprintf(far ? "%s%.17g" : "%s'' %.17g 1", i > 1 ? ", " : "", values[i])
}
ticks_of_x = ticks_of_x . ")"
