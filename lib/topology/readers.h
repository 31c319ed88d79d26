/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * readers.h - topologies read from and written to files
 *
 * Readers take the text itself (`text`, `text_bytes`; it need not be terminated) and the file's
 * name for errors. They take or refuse a whole file: on error they keep nothing of it, and `error`
 * holds file, line and column. Switches of one level that share most of their children are one
 * (rail-optimised fabrics, several roots above one set of leaves) if a source can say so, as
 * topology.conf can; the first in natural order gives its name. `file` must outlive the call only.
 *
 * Any thread; not inside slurmctld's scheduling calls (they allocate and take milliseconds).
 */
#ifndef OSP_READERS_H
#define OSP_READERS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/topology/topology.h"

/* The largest file that readers take. An EC2 answer for 131,072 instances is about 60 MB. */
#define OSP_TOPOLOGY_FILE_BYTES_MAX ((size_t)128 * 1024 * 1024)

/* --- onespine.topology: our own file, JSON ------------------------------------------------------
 */

/*
 * Reads a file of this form. Returns NULL with `error` set.
 *
 * {
 *   "onespine-topology": 1,                          the format's version
 *   "source": "ec2 describe-instance-topology",      words for people; may be left out
 *   "levels": ["leaf", "spine", "core", "zone"],     bottom first
 *   "domains": [                                     each one after the one it is in
 *     {"level": "zone", "name": "use1-az4"},
 *     {"level": "core", "name": "nn-1", "in": "use1-az4"},
 *     {"level": "spine", "name": "nn-2", "in": "nn-1"},
 *     {"level": "leaf", "name": "nn-3", "in": "nn-2", "nodes": "gpu-[1-16]"}
 *   ],
 *   "nodes": "gpu-99",                               nodes in no known domain; may be left out
 *   "places": [                                      where places come from; may be left out
 *     {"source": "ec2", "nodes": ["gpu-1 i-0abc 1700000000"]}, node, instance ("-": none), and
 *     {"source": "infiniband", "nodes": "gpu-[2-16]"}          Slurm's boot time when the place was
 *                                                              asked for
 *   ]
 * }
 *
 * "in" is the nearest known domain above, of any level; "level:name" if several levels have one of
 * that name. "nodes" of a domain are those whose lower domains are not known.
 */
struct osp_topology *osp_read_onespine_topology(const char *file, const char *text,
						size_t text_bytes, struct osp_error *error);

/*
 * Returns the text of such a file, which the caller frees with free(); NULL if memory ran out.
 * Equal topologies give equal text. `source` may be NULL.
 */
char *osp_write_onespine_topology(const struct osp_topology *topology, const char *source);

/* --- Slurm's topology.conf (topology/tree) and topology.yaml ------------------------------------
 */

/*
 * Reads a topology.conf, or the cluster's topology of a topology.yaml (25.05 on; topology_yaml.h)
 * if it is a tree. The levels are the heights above the nodes, as Slurm counts them, with the
 * default names. Refuses, with the place: what Slurm would refuse, include lines, a switch in a
 * cycle, a node or switch below two that are not the same. Ignores LinkSpeed, and the switch that
 * osp_write_slurm_topology() made up above all others.
 */
struct osp_topology *osp_read_slurm_topology(const char *file, const char *text, size_t text_bytes,
					     struct osp_error *error);

/*
 * Appends a sentence to `said` if leaf switches that became one (rails) do not have the same nodes:
 * the first link that is missing, and how many are. `topology` is what was read from the file by
 * osp_read_slurm_topology(). Returns 0, or -1 with `error` set.
 */
int osp_slurm_topology_gaps(const struct osp_topology *topology, const char *file, const char *text,
			    size_t text_bytes, struct osp_text *said, struct osp_error *error);

/*
 * Reads one of topograph's models (switches and blocks in YAML; lib/topology/blocks.h reads the
 * NVLink domains among labels and annotations), or what topograph generates for Slurm, which is
 * read as above.
 */
struct osp_topology *osp_read_topograph(const char *file, const char *text, size_t text_bytes,
					struct osp_error *error);

/*
 * Returns the text of a topology.conf, or with `yaml` of a topology.yaml with this as the cluster's
 * topology, which Slurm loads without a warning and the caller frees with free(); NULL with `error`
 * set. Slurm wants every node below a leaf and one switch above all: if the fabric has none, one is
 * made up, with a comment. Names that Slurm's parser would not return unchanged are changed, with a
 * comment, and so are names that two levels share. Refuses a topology without nodes, a node's name
 * with a character that has a meaning there, and more than 65,535 switches.
 */
char *osp_write_slurm_topology(const struct osp_topology *topology, bool yaml,
			       struct osp_error *error);

/* --- EC2, CSV and InfiniBand: collected over several files, then built --------------------------
 */

struct osp_name_map;

/*
 * Reads a map from an instance (or reservation, or CSV host) to node names: two columns, one "ID
 * NODES" per line, separated by blanks or a comma, # comments; NODES is a hostlist (one name, or
 * for a reservation several). Or the JSON of `aws ec2 describe-instances`, one page or several: the
 * node name is the value of the tag `tag`, or with a NULL `tag` the private DNS name up to the
 * first dot; terminated instances, and those without a name, are not in the map. Refuses an id or a
 * node given twice. Returns NULL with `error` set.
 */
struct osp_name_map *osp_read_name_map(const char *file, const char *text, size_t text_bytes,
				       const char *tag, struct osp_error *error);
void osp_name_map_free(struct osp_name_map *map); /* NULL is allowed */

/*
 * Reads a map in two columns in which several ids may be one node: a node's adapters, or its
 * instance id and its address. Refuses an id given twice. Returns NULL with `error` set.
 */
struct osp_name_map *osp_read_adapter_map(const char *file, const char *text, size_t text_bytes,
					  struct osp_error *error);

/*
 * Returns how many ids the map has. osp_name_map_entry() finds the id of number `index` and its
 * first node; it returns false after the last.
 */
uint32_t osp_name_map_count(const struct osp_name_map *map);
bool osp_name_map_entry(const struct osp_name_map *map, uint32_t index, const char **id,
			const char **node);

/* Returns whether a word is a GUID: e09d:7303:0085:8d88 as sysfs writes it, the same without
 * colons, or 0x and up to 16 digits. */
bool osp_is_guid(const char *word);

#define OSP_ADAPTERS_MAX (16 * OSP_NODES_MAX) /* the most names in such a map */

struct osp_import_options {
	const struct osp_name_map *map; /* NULL: the ids are the node names */
	bool map_of_slurm;		/* it is of Slurm's nodes: nobody gave one */
	/* keep the rest when an instance has no topology or name, or contradicts another */
	bool allow_missing;
	const char *const *level_names; /* bottom first; NULL: leaf, spine, core, layer4, ... */
	size_t level_name_count;
	const char *const
		*csv_columns; /* CSV: host column, then top layer first; NULL: by their names */
	size_t csv_column_count;
	const char *adapters; /* InfiniBand: a pattern (glob.h) of adapters' names, as "mlx5_[0-7]";
				 NULL: all */
};

struct osp_import; /* the state of the import */

struct osp_import *osp_import_new(const struct osp_import_options *options);
void osp_import_free(struct osp_import *import); /* NULL is allowed */

/*
 * Adds the pages of one file: the output of `describe-instance-topology` or
 * `describe-capacity-reservation-topology`, one document or several after each other. They have 1
 * to 4 layers (more are taken too), top first; counted from the bottom for instances (3 and 4
 * layers may be mixed), from the top for reservations, which may lack the lower ones (their
 * instance type says how many there are: 4 for p6-b200 and p6-b300, else 3). The availability zone
 * is the level "zone" above all, by its id if any answer has it; a CapacityBlockId on instances
 * (UltraServers) is the level "nvlink" below leaf; it is beside the tree if an UltraServer is not
 * under one leaf, and a warning names that and counts them. If instances disagree (a network node
 * at two levels, in two zones or under two parents), osp_import_finish() names both in its error,
 * and also refuses an instance given twice.
 */
int osp_import_ec2(struct osp_import *import, const char *file, const char *text, size_t text_bytes,
		   struct osp_error *error);

/*
 * Adds a CSV (RFC 4180) with a header line, and one host with its switches per line. csv_columns
 * says which column is what; else the header's names do (host, hostname, node, server; leaf, tor,
 * rack; spine, pod; superspine, core); else the columns are the host and its switches, top layer
 * first, and a warning says so. The lowest layers' fields may be empty: unknown. A path from the
 * top identifies a switch: if a layer has a name under several parents, all switches of that layer
 * are named PARENT/NAME ("P10/S14"). Hashed hosts (64 hex digits) get the shortest prefix, at least
 * 8 long, that keeps them apart, after the letter "n".
 */
int osp_import_csv(struct osp_import *import, const char *file, const char *text, size_t text_bytes,
		   struct osp_error *error);

/*
 * An instance from EC2's answer in XML, to add; strings are copied, and are NULL if the answer
 * lacks them. The rules of osp_import_ec2() hold for it.
 */
struct osp_import_instance {
	const char *where; /* the place in errors: "EC2's answer" */
	const char *id;
	/* of a capacity reservation, for a node that will be launched into it: the instance type;
	   `switches` may lack the lower ones. NULL: of an instance */
	const char *reserved_type;
	uint32_t lowest_layer; /* of the last of `switches`, 1 above the node; 0: 1, or above what
				  `reserved_type` lacks */
	const char *const *switches; /* top first */
	size_t switch_count;
	const char *zone_id;
	const char *zone_name;
	const char *block;
	struct osp_node_note note; /* instance_id is `id` */
};
int osp_import_instance(struct osp_import *import, const struct osp_import_instance *instance,
			struct osp_error *error);

/*
 * Sets `source` as the source of the places of all nodes read from now on; NULL: none. The string
 * must live as long as the import.
 */
void osp_import_source(struct osp_import *import, const char *source);

/*
 * Adds a sweep of an InfiniBand fabric: the output of `ibnetdiscover` or `ibnetdiscover -p`.
 * Several sweeps of one fabric are joined by GUID. The map finds hosts; its ids are GUIDs of
 * adapters (osp_is_guid(), in small letters) or host names, and every other adapter is left
 * out. Without a map, the description "HOST ADAPTER" that rdma-ndd sets finds them, the host
 * without its domain. Adapters of SHARP are ignored; adapters without a host's name and hosts of
 * one name are left out
 * with a warning. The levels come from connected components (ib_units.c): "leaf" are units of
 * leaves that share a host, one for each rail; "spine" the switches next above that share a unit;
 * and so on. Domains are named "S-" and the lowest GUID of their switches. After an error the
 * import may only be freed.
 */
int osp_import_infiniband(struct osp_import *import, const char *file, const char *text,
			  size_t text_bytes, struct osp_error *error);

/*
 * Compares all that was read and builds the topology. Returns NULL with `error` set. May be called
 * only once.
 */
struct osp_topology *osp_import_finish(struct osp_import *import, struct osp_error *error);

/*
 * Returns the number of warnings, such as what allow_missing left out. osp_import_warning() returns
 * one as a line, valid until osp_import_free().
 */
size_t osp_import_warning_count(const struct osp_import *import);
const char *osp_import_warning(const struct osp_import *import, size_t index);

#endif
