/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mpi_ring.c - a real MPI job: sums the ranks, and rank 0 says where each rank runs, on which
 * CPUs */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 256

/* "NODE LOCALID CPUS CUDA_DEVICE_ORDER" */
static void report(char *line)
{
	const char *node = getenv("SLURMD_NODENAME"), *order = getenv("CUDA_DEVICE_ORDER");
	const char *local = getenv("SLURM_LOCALID");
	char status[256], cpus[128] = "?";
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(status, sizeof(status), file))
		sscanf(status, "Cpus_allowed_list: %127s", cpus);
	if (file)
		fclose(file);
	snprintf(line, LINE_BYTES, "%s %s %s %s", node ? node : "-", local ? local : "-", cpus,
		 order ? order : "-");
}

int main(int argc, char **argv)
{
	char line[LINE_BYTES] = "", *lines = NULL;
	int rank, size, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	report(line);
	lines = malloc((size_t)size * LINE_BYTES);
	if (!lines)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Gather(line, LINE_BYTES, MPI_CHAR, lines, LINE_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
	for (int i = 0; !rank && i < size; i++)
		printf("%d %s\n", i, lines + (size_t)i * LINE_BYTES);
	if (!rank)
		printf("sum %d\n", sum);
	free(lines);
	MPI_Finalize();
	return 0;
}
