/* memory_use.h: reads how much memory this process has, from /proc/self (Linux). */
#ifndef TACTUS_BASE_MEMORY_USE_H
#define TACTUS_BASE_MEMORY_USE_H

#include <stdint.h>

/* Local. Return the bytes in memory now, and the most since the process began or since the last
 * tac_memory_forget_peak().  0: not known. */
int64_t tac_memory_now(void);
int64_t tac_memory_peak(void);
/* Local. Gives memory that was freed back to the system, and counts the peak from now on.  If the kernel does not allow
 * that, the peak stays as it was. */
void tac_memory_forget_peak(void);

#endif
