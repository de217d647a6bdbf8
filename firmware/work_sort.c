/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting: a shell sort that runs in one go, and a heap sort that a busy caller can take in small steps.
 */
#include "firmware/work.h"

WORK_APART void sort_shell(int32_t *values, uint32_t n)
{
    uint32_t gap = 1;
    while (gap < n / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (uint32_t i = gap; i < n; i++) {
            int32_t value = values[i];
            uint32_t at = i;
            while (at >= gap && values[at - gap] > value) {
                values[at] = values[at - gap];
                at -= gap;
            }
            values[at] = value;
        }
    }
}

/* Let values[root] sink until both its children are smaller, within the first n. */
static WORK_APART void sort_sift(int32_t *values, uint32_t root, uint32_t n)
{
    int32_t value = values[root];
    for (;;) {
        uint32_t child = 2 * root + 1;
        if (child >= n)
            break;
        if (child + 1 < n && values[child + 1] > values[child])
            child++;
        if (values[child] <= value)
            break;
        values[root] = values[child];
        root = child;
    }
    values[root] = value;
}

WORK_APART bool sort_heap_step(int32_t *values, uint32_t n, uint32_t *step)
{
    uint32_t build = n / 2;
    if (*step < build) {
        sort_sift(values, build - 1 - *step, n);
        (*step)++;
        return n < 2;
    }
    uint32_t done = *step - build; /* values in their place at the end */
    if (done + 1 < n) {
        uint32_t last = n - 1 - done;
        int32_t top = values[0];
        values[0] = values[last];
        values[last] = top;
        sort_sift(values, 0, last);
        (*step)++;
        done++;
    }
    return done + 1 >= n;
}
