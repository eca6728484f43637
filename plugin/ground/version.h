#ifndef SW_VERSION_H
#define SW_VERSION_H

/* The release, as --version, the log and provenances print it. */
#define SW_VERSION "0.1.0"

#endif
