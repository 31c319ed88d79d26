/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm.c - connections of a user's, as many and as fast as the kernel takes them, until it is
 * ended
 *
 *	storm ADDRESS FIRST-LAST	to these TCP ports; the last 512 stay open and silent, the
 *					oldest is reset
 *	storm SOCKET			to that socket of a file
 *	storm hold FIRST-LAST FILE	or listens on these ports and answers nobody; makes the file
 *					when it has all
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OPEN_MOST 512

static int to_port(const char *address, unsigned int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct linger reset = {.l_onoff = 1};
	int file = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		_exit(2);
	if (file < 0)
		return -1;
	setsockopt(file, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	(void)!connect(file, (struct sockaddr *)&to, sizeof(to));
	return file;
}

static int to_file(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int file = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (file >= 0)
		(void)!connect(file, (struct sockaddr *)&to, sizeof(to));
	return file;
}

static int hold(unsigned int first, unsigned int last, const char *mark)
{
	for (unsigned int port = first; port <= last; port++) {
		struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
		int file = socket(AF_INET, SOCK_STREAM, 0), one = 1;

		setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(file, (struct sockaddr *)&at, sizeof(at)) || listen(file, 16)) {
			perror("storm");
			return 1;
		}
	}
	fclose(fopen(mark, "w"));
	return pause();
}

int main(int argc, char **argv)
{
	int files[OPEN_MOST];
	unsigned int first = 0, last = 0;

	memset(files, -1, sizeof(files));
	prctl(PR_SET_PDEATHSIG, 9);
	if (argc < 2 || (argc > 2 && sscanf(argv[2], "%u-%u", &first, &last) != 2))
		return 2;
	if (argc == 4)
		return hold(first, last, argv[3]);
	for (unsigned int i = 0;; i++) {
		int *file = &files[i % OPEN_MOST];

		if (*file >= 0)
			close(*file);
		*file = argc > 2 ? to_port(argv[1], first + i % (last - first + 1))
				 : to_file(argv[1]);
	}
}
