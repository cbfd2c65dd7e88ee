/* test_sheet.c - intervals of the median against the table of the sign test. */
#include "testing.h"

#include "report/sheet.h"

#include <math.h>

/* k of the interval from the k-th to the (n + 1 - k)-th value: David & Nagaraja, Order
 * Statistics, 2003, section 7.1; 0: no such interval has 95 %. Each can be checked by
 * hand: 2 P(Binomial(n, 1/2) < k) <= 0.05. */
static void test_median_interval(void **state)
{
    static const int table[][2] = {{1, 0}, {5, 0}, {6, 1}, {8, 1}, {9, 2}, {10, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {100, 40}};
    double values[100], low, high;
    (void)state;
    for (int i = 0; i < 100; i++) values[i] = i + 1;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        int n = table[t][0], k = table[t][1];
        nb_median_interval(n, values, &low, &high);
        if (k == 0) {
            assert_true(isnan(low) && isnan(high));
        } else {
            assert_true(low == k);
            assert_true(high == n + 1 - k);
        }
    }
    nb_median_interval(0, values, &low, &high);
    assert_true(isnan(low) && isnan(high));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_median_interval)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
