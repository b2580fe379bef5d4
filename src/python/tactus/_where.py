"""Where the library and the program are.  Installing writes this file anew; in the source tree it is empty."""
LIBRARY = ""  # absolute, or relative to this folder
PROGRAM = ""
