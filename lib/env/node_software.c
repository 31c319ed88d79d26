/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_software.c - finds the versions of the libraries that a job would load, from files alone */
#include "onespine_config.h"
#include "lib/env/node_software.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/document.h"
#include "lib/base/text.h"

#define LIST_BYTES_MAX	((size_t)1024 * 1024)
#define CACHE_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define VERSION_BYTES	64

#define INSTALLER_LIST	"/opt/amazon/efa_installed_packages"
#define CUDA_VERSION	"/usr/local/cuda/version.json"
#define LOADER_CACHE	"/etc/ld.so.cache"

/* First the usual folders of NCCL, on nodes and in images; from NCCL_PLACES on, those in which the
 * EFA installer and older images put aws-ofi-nccl; then the sources of the other facts. */
#define NCCL_PLACES 6
#define OFI_PLACES  6
const char *const osp_node_software_places[] = {
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib64",
	"/usr/local/cuda/lib64",
	"/usr/local/lib",
	"/opt/nccl/build/lib",
	"/opt/amazon/ofi-nccl/lib",
	"/opt/amazon/ofi-nccl/lib64",
	"/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
	"/opt/amazon/ofi-nccl/lib/aarch64-linux-gnu",
	"/opt/amazon/aws-ofi-nccl/lib",
	"/opt/aws-ofi-nccl/lib",
	"/opt/amazon/efa/lib",
	"/opt/amazon/efa/lib64",
	INSTALLER_LIST,
	CUDA_VERSION,
	LOADER_CACHE,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const size_t osp_node_software_place_count = COUNT(osp_node_software_places);

static bool known(const struct osp_facts *facts, enum osp_fact_id id)
{
	return facts->facts[id].known;
}

/* Copies as much of `text` as looks like a version. */
static const char *version_at(const char *text, char *buffer)
{
	size_t length = 0;

	while (length < VERSION_BYTES - 1 && text[length] &&
	       (isalnum((unsigned char)text[length]) || text[length] == '.'))
		length++;
	while (length && text[length - 1] == '.')
		length--;
	memcpy(buffer, text, length);
	buffer[length] = '\0';
	return buffer;
}

/* --- the limits ------------------------------------------------------------------------------- */

struct budget {
	size_t folder_count, names_left, bytes_left;
	uint64_t until_ms;
	bool spent;
	struct {
		dev_t device;
		ino_t inode;
	} folders[OSP_SOFTWARE_FOLDERS_MAX];
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void begin(struct budget *budget)
{
	budget->folder_count = 0;
	budget->names_left = OSP_SOFTWARE_NAMES_MAX;
	budget->bytes_left = OSP_SOFTWARE_BYTES_MAX;
	budget->until_ms = now_ms() + OSP_SOFTWARE_MS_MAX;
	budget->spent = false;
}

/* Returns whether this folder may be searched and was not searched before. */
static bool enter(struct budget *budget, DIR *folder)
{
	struct stat status;

	if (fstat(dirfd(folder), &status))
		return false;
	for (size_t i = 0; i < budget->folder_count; i++) {
		if (budget->folders[i].device == status.st_dev &&
		    budget->folders[i].inode == status.st_ino)
			return false;
	}
	if (budget->folder_count == OSP_SOFTWARE_FOLDERS_MAX || now_ms() >= budget->until_ms) {
		budget->spent = true;
		return false;
	}
	budget->folders[budget->folder_count].device = status.st_dev;
	budget->folders[budget->folder_count++].inode = status.st_ino;
	return true;
}

/* Returns the folder's next name, or NULL at its end or at a limit. */
static const char *next_name(struct budget *budget, DIR *folder)
{
	struct dirent *entry;

	if (!budget->names_left || (budget->names_left % 64 == 0 && now_ms() >= budget->until_ms))
		budget->spent = true;
	if (budget->spent)
		return NULL;
	budget->names_left--;
	entry = readdir(folder);
	return entry ? entry->d_name : NULL;
}

/* --- NCCL ------------------------------------------------------------------------------------- */

/* Looks for a file such as "libnccl.so.2.21.5", whose name has the whole version. */
static void look_for_nccl(struct budget *budget, DIR *folder, struct osp_facts *facts)
{
	static const char prefix[] = "libnccl.so.";
	const char *name;

	if (known(facts, OSP_FACT_NCCL))
		return;
	while ((name = next_name(budget, folder))) {
		const char *version = name + sizeof(prefix) - 1;

		if (!strncmp(name, prefix, sizeof(prefix) - 1) && strchr(version, '.'))
			osp_node_set_fact(facts, OSP_FACT_NCCL, version);
	}
}

/* Looks for "nvidia_nccl_cu12-2.21.5.dist-info" among a Python environment's packages. */
static void look_at_packages(struct budget *budget, const char *path, struct osp_facts *facts)
{
	DIR *folder = opendir(path);
	char version[VERSION_BYTES];
	const char *name;

	while (folder && (name = next_name(budget, folder))) {
		const char *dash = strchr(name, '-');
		const char *end = strstr(name, ".dist-info");

		if (strncmp(name, "nvidia_nccl_", 12) != 0 || !dash || !end || end < dash)
			continue;
		snprintf(version, sizeof(version), "%.*s", (int)(end - dash - 1), dash + 1);
		osp_node_set_fact(facts, OSP_FACT_NCCL, version);
	}
	if (folder)
		closedir(folder);
}

/* Searches VIRTUAL_ENV/lib/python3.N/site-packages. */
static void look_at_virtual_env(struct budget *budget, const struct osp_search *search,
				struct osp_facts *facts)
{
	char path[PATH_MAX], packages[PATH_MAX];
	const char *name;
	DIR *folder;

	if (!search->virtual_env || snprintf(path, sizeof(path), "%s%s/lib", search->root,
					     search->virtual_env) >= (int)sizeof(path))
		return;
	folder = opendir(path);
	while (folder && (name = next_name(budget, folder))) {
		if (!strncmp(name, "python3", 7) &&
		    snprintf(packages, sizeof(packages), "%s/%s/site-packages", path, name) <
			    (int)sizeof(packages))
			look_at_packages(budget, packages, facts);
	}
	if (folder)
		closedir(folder);
}

/* --- aws-ofi-nccl ----------------------------------------------------------------------------- */

/* Reads the version that the plugin prints at its start: "aws-ofi-nccl 1.14.2". */
static void read_plugin(struct budget *budget, const char *root, const char *path,
			struct osp_facts *facts)
{
	static const char words[] = "aws-ofi-nccl ";
	size_t length = 0, left;
	char *data = osp_node_read(root, path, budget->bytes_left, &length);
	char version[VERSION_BYTES];
	const char *at = data;

	if (!data && errno == EFBIG)
		budget->spent = true;
	budget->bytes_left -= length;
	while (data && !known(facts, OSP_FACT_OFI)) {
		left = length - (size_t)(at - data);
		at = memmem(at, left, words, sizeof(words) - 1);
		if (!at)
			break;
		at += sizeof(words) - 1;
		if (isdigit((unsigned char)*at))
			osp_node_set_fact(facts, OSP_FACT_OFI, version_at(at, version));
	}
	free(data);
}

static void look_for_ofi(struct budget *budget, const char *root, const char *folder,
			 struct osp_facts *facts)
{
	static const char *const names[] = {"libnccl-net-ofi.so", "libnccl-net.so"};
	static const char tuner[] = "libnccl-ofi-tuner.so";
	char path[PATH_MAX], whole[PATH_MAX];

	for (size_t i = 0; i < COUNT(names) && !known(facts, OSP_FACT_OFI); i++) {
		if (snprintf(path, sizeof(path), "%s/%s", folder, names[i]) < (int)sizeof(path))
			read_plugin(budget, root, path, facts);
	}
	if (!known(facts, OSP_FACT_OFI_TUNER) &&
	    snprintf(path, sizeof(path), "%s/%s", folder, tuner) < (int)sizeof(path) &&
	    snprintf(whole, sizeof(whole), "%s%s", root, path) < (int)sizeof(whole) &&
	    !access(whole, R_OK))
		osp_node_set_fact(facts, OSP_FACT_OFI_TUNER, path);
}

/* --- the EFA installer ------------------------------------------------------------------------ */

/* Reads the version of a package of the list: its name, '-', '_' or a blank, its version. */
static void read_package(const char *list, const char *name, enum osp_fact_id id,
			 struct osp_facts *facts)
{
	char version[VERSION_BYTES];
	size_t length = strlen(name);

	for (const char *at = strstr(list, name); at && !known(facts, id);
	     at = strstr(at + 1, name)) {
		if ((at[length] == '-' || at[length] == '_' || at[length] == ' ') &&
		    isdigit((unsigned char)at[length + 1]))
			osp_node_set_fact(facts, id, version_at(at + length + 1, version));
	}
}

static void look_at_installer(const char *root, struct osp_facts *facts)
{
	static const char words[] = "EFA installer version:";
	size_t length = 0;
	char *list = osp_node_read(root, INSTALLER_LIST, LIST_BYTES_MAX, &length);
	char version[VERSION_BYTES];
	const char *at = list ? strstr(list, words) : NULL;

	if (at) {
		at += sizeof(words) - 1;
		at += strspn(at, " \t");
		osp_node_set_fact(facts, OSP_FACT_EFA, version_at(at, version));
	}
	if (list) {
		read_package(list, "libfabric-aws", OSP_FACT_LIBFABRIC, facts);
		read_package(list, "libfabric1-aws", OSP_FACT_LIBFABRIC, facts);
		read_package(list, "libnccl-ofi", OSP_FACT_OFI, facts);
	}
	free(list);
}

/*
 * Returns whether the loader's cache leads to `library` in or below that folder, and nowhere else.
 * The cache, which ldconfig makes, holds each path with its terminator.
 */
static bool loader_finds(const char *cache, size_t cache_bytes, const char *folder,
			 const char *library)
{
	const char *at = cache, *end = cache + cache_bytes;
	size_t length = strlen(library) + 1;
	bool found = false;

	while (at && (at = memmem(at, (size_t)(end - at), library, length))) {
		const char *path = at;

		while (path > cache && path[-1])
			path--;
		if (at > path && at[-1] == '/') {
			if (strncmp(path, folder, strlen(folder)) != 0 ||
			    path[strlen(folder)] != '/')
				return false;
			found = true;
		}
		at += length;
	}
	return found;
}

/* Lists the installer's folders that exist but that the loader does not know. */
static void look_for_libraries(const char *root, struct osp_facts *facts)
{
	static const struct {
		const char *folder, *library;
	} places[] = {{"/opt/amazon/efa/lib", "libfabric.so.1"},
		      {"/opt/amazon/efa/lib64", "libfabric.so.1"},
		      {"/opt/amazon/ofi-nccl/lib", "libnccl-net.so"},
		      {"/opt/amazon/ofi-nccl/lib64", "libnccl-net.so"}};
	char whole[PATH_MAX], list[OSP_FACT_BYTES] = "";
	size_t cache_bytes = 0;
	char *cache = osp_node_read(root, LOADER_CACHE, CACHE_BYTES_MAX, &cache_bytes);

	for (size_t i = 0; i < COUNT(places); i++) {
		const char *folder = places[i].folder;
		size_t used = strlen(list);

		if (snprintf(whole, sizeof(whole), "%s%s", root, folder) < (int)sizeof(whole) &&
		    !access(whole, X_OK) &&
		    !(cache && loader_finds(cache, cache_bytes, folder, places[i].library)))
			snprintf(list + used, sizeof(list) - used, "%s%s", used ? ":" : "", folder);
	}
	free(cache);
	osp_node_set_fact(facts, OSP_FACT_EFA_LIBRARIES, list);
}

/* --- CUDA ------------------------------------------------------------------------------------- */

/* Reads {"cuda": {"name": .., "version": "12.4.1"}, ...}. */
static void look_at_cuda(const char *root, struct osp_facts *facts)
{
	static const char path[] = CUDA_VERSION;
	size_t length = 0;
	char *text = osp_node_read(root, path, LIST_BYTES_MAX, &length);
	struct osp_document *document = text ? osp_document_read(path, text, length, NULL) : NULL;
	const struct osp_value *cuda =
		document ? osp_value_get(osp_document_root(document), "cuda") : NULL;
	const struct osp_value *version = cuda ? osp_value_get(cuda, "version") : NULL;

	if (version && version->type == OSP_VALUE_SCALAR)
		osp_node_set_fact(facts, OSP_FACT_CUDA, version->text);
	osp_document_free(document);
	free(text);
}

/* --- all -------------------------------------------------------------------------------------- */

static void look_into(struct budget *budget, const char *root, const char *path,
		      struct osp_facts *facts)
{
	char whole[PATH_MAX];
	DIR *folder;

	if (snprintf(whole, sizeof(whole), "%s%s", root, path) >= (int)sizeof(whole))
		return;
	folder = opendir(whole);
	if (folder && enter(budget, folder)) {
		look_for_nccl(budget, folder, facts);
		look_for_ofi(budget, root, path, facts);
	}
	if (folder)
		closedir(folder);
}

/* Searches the folders of LD_LIBRARY_PATH first, as the loader does. To open a missing folder costs
 * time too, so each folder counts as a name. */
static void look_along_path(struct budget *budget, const struct osp_search *search,
			    struct osp_facts *facts)
{
	const char *at = search->library_path;
	char folder[PATH_MAX];

	while (at && *at && !budget->spent) {
		size_t length = strcspn(at, ":");

		if (now_ms() >= budget->until_ms || !budget->names_left)
			budget->spent = true;
		else if (length && length < sizeof(folder) && *at == '/') {
			memcpy(folder, at, length);
			folder[length] = '\0';
			budget->names_left--;
			look_into(budget, search->root, folder, facts);
		}
		at += length + (at[length] == ':');
	}
}

bool osp_node_software_own(const struct osp_search *search, struct osp_facts *facts)
{
	struct budget budget;

	begin(&budget);
	look_along_path(&budget, search, facts);
	if (!known(facts, OSP_FACT_NCCL) && !budget.spent)
		look_at_virtual_env(&budget, search, facts);
	return !budget.spent;
}

/* Searches root's own folders, each of them, whatever the time it takes. */
void osp_node_software_usual(const char *root, struct osp_facts *facts)
{
	char whole[PATH_MAX];
	struct budget budget;

	for (size_t i = 0; i < NCCL_PLACES + OFI_PLACES; i++) {
		DIR *folder = NULL;

		begin(&budget);
		if (i < NCCL_PLACES && snprintf(whole, sizeof(whole), "%s%s", root,
						osp_node_software_places[i]) < (int)sizeof(whole))
			folder = opendir(whole);
		budget.until_ms = UINT64_MAX;
		if (folder) {
			look_for_nccl(&budget, folder, facts);
			closedir(folder);
		}
		if (i >= NCCL_PLACES)
			look_for_ofi(&budget, root, osp_node_software_places[i], facts);
	}
	look_at_installer(root, facts);
	look_for_libraries(root, facts);
	look_at_cuda(root, facts);
}

void osp_node_software(const struct osp_search *search, struct osp_facts *facts)
{
	osp_node_software_own(search, facts);
	osp_node_software_usual(search->root, facts);
}
