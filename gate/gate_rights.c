/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_rights.c - a gate's child gives up root's rights */
#include "onespine_config.h"
#include "gate/gate_rights.h"

#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "check/base/child.h"

void gate_give_up_rights(int keep, int keep_too, unsigned int most_s)
{
	pid_t parent = getppid();

	osp_child_close_but(keep, keep_too);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(GATE_NOBODY_ID, GATE_NOBODY_ID, GATE_NOBODY_ID) < 0 ||
	    setresuid(GATE_NOBODY_ID, GATE_NOBODY_ID, GATE_NOBODY_ID) < 0)
		_exit(1);
	/* the kernel forgets this when the ids change, so it comes after them */
	osp_child_follow(parent);
	alarm(most_s);
}
