# SPDX-License-Identifier: GPL-3.0-or-later
# ticks.gp - an axis with its numbers at given values, landmarks[] from 1 to M, which it sorts: on the scale, linear or
# logarithmic, that keeps the closest two further apart. A tick keeps its number where the last one is far enough.
#
# Before it is loaded: narrow, how many times farther than usual that is. Afterwards: log_x, place(), the share of the
# axis that is left of a value, and ticks_of_x, to be evaluated.

do for [i = 2:M] { do for [k = i:2:-1] { if (landmarks[k] < landmarks[k - 1]) { t = landmarks[k]; landmarks[k] = landmarks[k - 1]; landmarks[k - 1] = t } } }
linear = 1; logarithmic = 1
do for [i = 2:M] {
    t = (landmarks[i] - landmarks[i - 1]) / real(landmarks[M] - landmarks[1]); linear = t < linear ? t : linear
    t = log(real(landmarks[i]) / landmarks[i - 1]) / log(real(landmarks[M]) / landmarks[1]); logarithmic = t < logarithmic ? t : logarithmic
}
log_x = logarithmic > linear
place(m) = M < 2 ? 0.5 : log_x ? log(real(m) / landmarks[1]) / log(real(landmarks[M]) / landmarks[1]) : (m - landmarks[1]) / real(landmarks[M] - landmarks[1])
ticks_of_x = "set xtics ("
t = -1
do for [i = 1:M] {
    far = place(landmarks[i]) - t > 0.025 * narrow * (strlen(sprintf("%g", landmarks[i])) + 1)
    t = far ? place(landmarks[i]) : t
    ticks_of_x = ticks_of_x . sprintf(far ? "%s%.17g" : "%s'' %.17g 1", i > 1 ? ", " : "", landmarks[i])
}
ticks_of_x = ticks_of_x . ")"
