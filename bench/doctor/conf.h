/*
 * NCCL's configuration files. NCCL reads them before anything else and sets each NAME that is not set yet:
 *
 *     the environment, then $NCCL_CONF_FILE or else ~/.nccl.conf, then /etc/nccl.conf
 *
 * whatever the prefix of NAME; one that is set to "" is set. NCCL_CONF_FILE takes no '~', and NCCL knows it from 2.23
 * on.
 */
#ifndef SW_CONF_H
#define SW_CONF_H

#include "doctor/env_set.h"

/* Adds what the files below `root` ("": the real ones) set. `home` is the user's folder, or NULL. */
void conf_add(struct env_set* set, const char* root, const char* home);

#endif
