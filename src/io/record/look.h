/* look.h: which vertices' places a recorded run keeps when nothing rewrites them (events/record.c, run/run.c). */
#ifndef TACTUS_IO_RECORD_LOOK_H
#define TACTUS_IO_RECORD_LOOK_H

/* All, at an end of a frame interval; those that were rewritten at this instant, or those that were not. */
enum tac_look { TAC_LOOK_ALL, TAC_LOOK_REWRITTEN, TAC_LOOK_OTHERS };

#endif
