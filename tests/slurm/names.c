/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.c - a user's salloc that gives a name in place of its address, and the names that slurmctld
 * looks up. For tests alone.
 *
 * Preloaded into salloc, with RESP_HOST: that text is where the request says that it is reached;
 * with MUTE, a file: it lets slurmctld connect, and does not answer while that file is there.
 * Preloaded into slurmctld, with LOOKED_UP, a file: each name that is looked up becomes a line of
 * it, and one that ends with .example is 127.0.0.1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <slurm/slurm.h>

typedef resource_allocation_response_msg_t *allocate_f(const job_desc_msg_t *, time_t,
						       void (*)(uint32_t));
typedef int accept_f(int, struct sockaddr *, socklen_t *, int);
typedef int look_up_f(const char *, const char *, const struct addrinfo *, struct addrinfo **);

resource_allocation_response_msg_t *slurm_allocate_resources_blocking(const job_desc_msg_t *request,
								      time_t timeout,
								      void (*pending)(uint32_t))
{
	allocate_f *real = (allocate_f *)dlsym(RTLD_NEXT, "slurm_allocate_resources_blocking");
	const char *host = getenv("RESP_HOST");

	if (host)
		((job_desc_msg_t *)request)->resp_host = strdup(host);
	return real(request, timeout, pending);
}

int accept4(int file, struct sockaddr *address, socklen_t *address_bytes, int flags)
{
	accept_f *real = (accept_f *)dlsym(RTLD_NEXT, "accept4");
	const char *mute = getenv("MUTE");

	while (mute && access(mute, F_OK) == 0)
		usleep(100000);
	return real(file, address, address_bytes, flags);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **answer)
{
	look_up_f *real = (look_up_f *)dlsym(RTLD_NEXT, "getaddrinfo");
	const char *path = getenv("LOOKED_UP");
	FILE *file = path && name ? fopen(path, "a") : NULL;
	const char *end = name ? strrchr(name, '.') : NULL;

	if (file) {
		fprintf(file, "%s\n", name);
		fclose(file);
	}
	return real(end && !strcmp(end, ".example") ? "127.0.0.1" : name, service, hints, answer);
}
