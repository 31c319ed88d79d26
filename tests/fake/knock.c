/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knock.c - an uninvited guest at the gate's door
 *
 *	knock ADDRESS FIRST-LAST COUNT	connects COUNT times to each of these ports and keeps all
 *					open, 10 s or until they are closed; prints how many greeted
 *	knock -r ADDRESS FIRST-LAST	from a reserved port (root): prints the job and rank of who
 *					greets, sends standard input as one message, and prints
 *					"closed" or "answered N bytes"
 *	knock -l ADDRESS FIRST-LAST	the same, and announces 1 GiB instead
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GREETING_BYTES 33
#define KEEP_MS	       10000

static int reach(const char *address, unsigned int port, bool reserved)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct sockaddr_in own = {.sin_family = AF_INET};
	int file = socket(AF_INET, SOCK_STREAM, 0);

	if (file < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return -1;
	for (uint16_t from = 1023; reserved && from > 511; from--) {
		own.sin_port = htons(from);
		if (bind(file, (struct sockaddr *)&own, sizeof(own)) == 0)
			break;
	}
	if (connect(file, (struct sockaddr *)&to, sizeof(to)) == 0)
		return file;
	close(file);
	return -1;
}

/* Bytes read within `wait_ms`; 0: closed, or nothing came. */
static ssize_t hear(int file, uint8_t *bytes, size_t room, int wait_ms)
{
	struct pollfd wait = {.fd = file, .events = POLLIN};

	return poll(&wait, 1, wait_ms) > 0 ? read(file, bytes, room) : 0;
}

static int flood(const char *address, unsigned int first, unsigned int last, int count)
{
	int *files = calloc((size_t)count * (last - first + 1), sizeof(*files)), open = 0;
	int greeted = 0;
	uint8_t bytes[GREETING_BYTES];

	for (int i = 0; files && i < count; i++)
		for (unsigned int port = first; port <= last; port++) {
			int file = reach(address, port, false);

			if (file >= 0)
				files[open++] = file;
		}
	for (int i = 0; i < open; i++)
		greeted += hear(files[i], bytes, sizeof(bytes), i ? 0 : 200) > 0;
	printf("%d of %d greeted\n", greeted, open);
	free(files);
	return 0;
}

static int say(const char *address, unsigned int first, unsigned int last, bool lie)
{
	static char message[1024 * 1024];
	size_t length = fread(message, 1, sizeof(message), stdin);
	uint32_t announced = htonl(lie ? 1024 * 1024 * 1024 : (uint32_t)length);
	uint8_t greeting[GREETING_BYTES], answer[4096];
	uint32_t job, rank;

	for (unsigned int port = first; port <= last; port++) {
		int file = reach(address, port, true);
		ssize_t count;

		if (file < 0 || hear(file, greeting, sizeof(greeting), 2000) != GREETING_BYTES)
			continue;
		memcpy(&job, greeting + 5, sizeof(job));
		memcpy(&rank, greeting + 13, sizeof(rank));
		printf("job %u rank %u\n", ntohl(job), ntohl(rank));
		if (write(file, &announced, sizeof(announced)) < 0 ||
		    write(file, message, length) < 0)
			puts("closed");
		count = hear(file, answer, sizeof(answer), KEEP_MS);
		if (count > 0)
			printf("answered %zd bytes\n", count);
		else
			puts("closed");
		return 0;
	}
	puts("nobody is there");
	return 1;
}

int main(int argc, char **argv)
{
	unsigned int first, last;
	bool reserved = argc == 4 && !strcmp(argv[1], "-r"),
	     lie = argc == 4 && !strcmp(argv[1], "-l");

	if (argc != 4 || sscanf(argv[reserved || lie ? 3 : 2], "%u-%u", &first, &last) != 2) {
		fputs("usage: knock [-r|-l] ADDRESS FIRST-LAST [COUNT]\n", stderr);
		return 2;
	}
	return reserved || lie ? say(argv[2], first, last, lie)
			       : flood(argv[1], first, last, atoi(argv[3]));
}
