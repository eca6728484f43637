/*
 * A stand-in for NCCL as a tuner sees it: how each version finds and loads a tuner, what it asks, and what it makes of
 * the answer. No GPU, no NCCL; several communicators may be used on several threads, one thread at a time each.
 *
 *     version        what differs between NCCL versions, as one table
 *     log            the logger that a tuner is given when the caller has none
 *     tuner          a loaded tuner: v2 to v7 behind init, ask, finalize
 *     load           NCCL_TUNER_PLUGIN's name rules, dlopen, newest symbol first
 *     settings       NCCL_ALGO, NCCL_PROTO, channel limits
 *     communicator   the shape, the settings and the tuner's context; init and finalize
 *     operation      one collective as it is asked about
 *     estimate       the cost table, from the stand-in's own model
 *     channels       how many channels run
 *     choose         asks the tuner, picks the entry, works out the channels
 *     group          merges the operations of a group
 *
 * Each layer includes only those above it in this list. A typical use:
 *
 *     standin_load(22809, "sizewise", NULL, &tuner, &report);
 *     standin_communicator_create(&shape, tuner, &communicator);
 *     standin_ask(communicator, &operation, &choice);
 *     standin_communicator_destroy(communicator);
 *     standin_unload(tuner);
 */
#ifndef STANDIN_STANDIN_H
#define STANDIN_STANDIN_H

#include "standin/channels.h"
#include "standin/choose.h"
#include "standin/communicator.h"
#include "standin/estimate.h"
#include "standin/group.h"
#include "standin/load.h"
#include "standin/log.h"
#include "standin/operation.h"
#include "standin/settings.h"
#include "standin/tuner.h"
#include "standin/version.h"

#endif
