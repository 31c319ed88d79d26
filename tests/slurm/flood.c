/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flood.c - sends UDP datagrams to an address as fast as it can, until it is ended: flood ADDRESS
 * [BYTES] */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define BYTES_MAX 65000

int main(int argc, char **argv)
{
	static char bytes[BYTES_MAX];
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	size_t length = argc > 2 ? strtoul(argv[2], NULL, 10) : BYTES_MAX;
	int file = socket(AF_INET, SOCK_DGRAM, 0);

	prctl(PR_SET_PDEATHSIG, 9);
	if (argc < 2 || file < 0 || length > BYTES_MAX ||
	    inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	for (;;)
		(void)!sendto(file, bytes, length, 0, (struct sockaddr *)&to, sizeof(to));
}
