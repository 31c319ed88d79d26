/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onespine_config.h"
#include "tools/gate/gate_rights.h"

#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FILES_MAX 1024

void gate_give_up_rights(int keep, int keep_too, unsigned int most_s)
{
	pid_t parent = getppid();

	for (int file = 3; file < FILES_MAX; file++)
		if (file != keep && file != keep_too)
			close(file);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(GATE_NOBODY_ID, GATE_NOBODY_ID, GATE_NOBODY_ID) < 0 ||
	    setresuid(GATE_NOBODY_ID, GATE_NOBODY_ID, GATE_NOBODY_ID) < 0)
		_exit(1);
	/* the kernel forgets this when the ids change, so it comes after them */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	alarm(most_s);
}
