#!/usr/bin/python3
"""A checkpoint's file that is removed while ranks open it, or that one of them may not open, ends the run with one
sentence and exit code 3.  If this fails, all ranks of a run whose folder is removed wait for ever in MPI_File_open()."""
from common import *

for ranks in (2, 3):
    for word, part in (([], "was removed while the ranks were opening it"), (["unreadable"], "rank 1 cannot open")):
        r = call("mpirun", "-n", ranks, WRITER, HERE + "/file-%d.h5" % ranks, *word)
        check(r.code == 3, "%d ranks, %s: exit code %d: %s" % (ranks, part, r.code, r.err))
        check(len(r.sentences) == 1 and part in r.sentences[0], "%d ranks, %s: %s" % (ranks, part, r.err))
finish()
