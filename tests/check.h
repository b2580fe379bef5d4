/* check.h: what a test program needs. CHECK prints what failed and goes on; tests end with `return check_result();`. */
#ifndef TACTUS_TESTS_CHECK_H
#define TACTUS_TESTS_CHECK_H
#include <stdio.h>
static int check_failed, check_passed;
#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            check_passed++;                                                                                            \
        } else {                                                                                                       \
            if (check_failed++ < 50) {                                                                                 \
                printf("%s:%d: failed: %s:", __FILE__, __LINE__, #condition);                                          \
                printf(" " __VA_ARGS__);                                                                               \
                printf("\n");                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)
static inline int check_result(void)
{
    printf("%d checks passed, %d failed\n", check_passed, check_failed);
    return check_failed > 0 || check_passed == 0;
}
#endif
