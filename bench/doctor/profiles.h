/* Which profile applies, why others do not, and whether it still holds: the section "Profile". */
#ifndef SW_PROFILES_H
#define SW_PROFILES_H

#include "doctor/finding.h"
#include "doctor/subject.h"
#include "select/library.h"

/*
 * What Sizewise would do with these settings on this machine. Returns the profile that applies, or is named; NULL:
 * none. A shape of 0 ranks is not known: then each profile is asked about the first shape that it has.
 */
const struct sw_entry* profiles_select(const struct sw_library* library, struct shape_filter shape,
                                       struct findings* findings);

/* Whether the settings name no profile and none was found: then there is nothing to select. */
bool profiles_are_absent(const struct sw_library* library);

/* NCCL_SIZEWISE_ names that there are not. */
void profiles_check_names(const struct env_set* set, struct findings* findings);

/* Shipped profiles whose hardware is this machine's: they have to be named. */
void profiles_offer_shipped(const struct sw_facts* machine, struct findings* findings);

/* Whether the profile that settings are priced with fits the machine, and is stale for its NCCL, driver or settings. */
void profiles_check_age(const struct subject* subject, const char* origin, struct findings* findings);

#endif
