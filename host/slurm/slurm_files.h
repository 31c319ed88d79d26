/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_files.h - slurm.conf and its company on this host, read as files and not through Slurm
 *
 * libslurm ends the program where slurm.conf is wrong; what looks for wrong ones reads them itself.
 * One thread.
 */
#ifndef OSP_SLURM_FILES_H
#define OSP_SLURM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/conf/slurm_conf.h"
#include "lib/doctor/doctor.h"

/* Returns the path that SLURM_CONF names, or else the first of lib/conf/slurm_conf_path.h. NULL
 * with `error` set. To be freed. */
char *osp_find_slurm_conf(struct osp_error *error);

/* Returns whether it is slurmd's copy of what slurmctld sent, which nobody may edit. */
bool osp_slurm_conf_fetched(const char *path);

/* A text in place of the file `path`, while it is not written yet; NULL for a file as if absent. */
struct osp_overlay {
	const char *path;
	const char *text;
};

struct osp_overlays {
	struct osp_overlay items[16];
	size_t count;
};

/* Reads a file, or what lies over it; errors as osp_read_input()'s. */
char *osp_read_overlaid(const struct osp_overlays *overlays, const char *path, size_t limit_bytes,
			size_t *text_bytes, struct osp_error *error);

/* Reads slurm.conf through `overlays`, which may be NULL. */
struct osp_slurm_conf *osp_load_slurm_conf(const char *path, const struct osp_overlays *overlays,
					   struct osp_error *error);

/* Finds what kind of plugin the file is, and for which Slurm. */
struct osp_plugin_file osp_look_at_plugin(const char *folder, const char *name);

/* Returns the path of plugstack.conf of this slurm.conf. To be freed; NULL when memory ran out. */
char *osp_plugstack_path(const struct osp_slurm_conf *conf, const char *conf_path);

/* Looks for onespine.so in plugstack.conf and what it includes. The strings of `found` are to be
 * freed with osp_free_spank_line(). */
void osp_look_at_plugstack(const char *path, const struct osp_overlays *overlays,
			   struct osp_spank_line *found);
void osp_free_spank_line(struct osp_spank_line *line);

/* Returns the folder that plugstack.conf includes and where a file "onespine.conf" would be read;
 * NULL where there is none. To be freed. */
char *osp_plugstack_folder(const char *path);

/*
 * Finds how a script that `key` ("Prolog", "Epilog") names, or one in the folder `scripts/KEY.d`
 * beside slurm.conf that ParallelCluster's runs, runs the gate. In *broken the first of these
 * programs that cannot be executed here: what `key` names, a script that runs the gate, or what
 * that runs by its whole path. Its strings are to be freed.
 */
enum osp_gate_call osp_runs_gate(const struct osp_slurm_conf *conf, const char *conf_path,
				 const struct osp_overlays *overlays, const char *key,
				 struct osp_gate_broken *broken);

/* Returns the folder whose scripts ParallelCluster's Prolog ("prolog") or Epilog runs; NULL if
 * there is none. To be freed. */
char *osp_scripts_folder(const char *conf_path, const char *name);

/* Returns MUNGE's socket, of AuthInfo=socket=PATH,ttl=..; "" for its default. */
void osp_munge_socket(const struct osp_slurm_conf *conf, char *socket, size_t socket_bytes);

/* Returns the file of keys (host/seal/seal.h) that replaces MUNGE: `named`, which onespine.yaml
 * names, or `usual` if that is NULL and Slurm itself has no MUNGE (AuthType=auth/slurm). NULL:
 * MUNGE. */
const char *osp_key_file(const struct osp_slurm_conf *conf, const char *named, const char *usual);

/* Returns SlurmUser's number; root's if there is no such user. */
uid_t osp_slurm_user(const struct osp_slurm_conf *conf);

/*
 * Writes the name under which this host keeps what it knows of this cluster, apart from others that
 * it may serve: ClusterName and slurmctld's port ("gpu-6817"); without `conf`, Slurm's defaults. A
 * '/' becomes '_'. Returns `name`.
 */
#define OSP_CLUSTER_NAME_BYTES 128
const char *osp_cluster_folder(const struct osp_slurm_conf *conf,
			       char name[OSP_CLUSTER_NAME_BYTES]);

/* Returns whether it is root's or `slurm_user`'s, and only they may write it. */
bool osp_is_safe(const char *path, uid_t slurm_user, bool *exists);

/* Returns whether slurm.conf counts GPUs (GresTypes) and names this node, by SLURMD_NODENAME or the
 * host's name, without any. False if slurm.conf is not here. */
bool osp_slurm_gives_no_gpus(void);

/*
 * Returns whether clustermgtd ends the instances of drained nodes of this cluster: slurm.conf is
 * ParallelCluster's, and clustermgtd's own settings below `root` ("" for /), if this host has them,
 * do not switch it off.
 */
bool osp_drained_are_ended(const struct osp_slurm_conf *conf, const char *root);

/* This host is one of the SlurmctldHosts. */
bool osp_is_controller(const struct osp_slurm_conf *conf);

/*
 * Returns whether this host is one of the nodes: by its name (NodeHostname, else NodeName); or by a
 * slurmd that no line names, as of a dynamic node, which runs here (SlurmdPidFile) or has left its
 * folder (SlurmdSpoolDir). Where slurmctld runs, a folder proves nothing: it stays when a host is
 * no longer a node.
 */
bool osp_is_node(const struct osp_slurm_conf *conf);

#endif
