/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg.h - the kernel's own records since boot, and the XIDs and SXids in them
 *
 * /dev/kmsg gives "PRIORITY,SEQUENCE,TIME_US,FLAGS;TEXT". Anybody who may write there, or whose
 * text is logged, could write words that look like an XID. So only records of facility 0 count,
 * which the kernel gives to no writer, and only if they begin as the driver's do. One thread.
 */
#ifndef OSP_KMSG_H
#define OSP_KMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSP_KMSG_RECORD_BYTES 8192 /* the kernel's own limit */

struct osp_kmsg_record {
	unsigned int facility; /* 0: the kernel */
	uint64_t sequence;
	uint64_t time_us; /* since boot */
	const char *text; /* within the line parsed, terminated */
};

/* Splits one record's line, in place. Returns false if it is not a record. */
bool osp_kmsg_parse(char *line, struct osp_kmsg_record *record);

/*
 * Returns whether netfilter may have written it: "PREFIXIN=lo OUT= SRC=...", with any prefix
 * (nftables: of 127 bytes), as a record of the kernel itself. Every user can set such rules in
 * their own network namespaces, and with net.netfilter.nf_log_all_netns=1 the records come here.
 */
bool osp_kmsg_is_netfilters(const char *text);

struct osp_xid {
	unsigned int number;
	char address[24]; /* "0000:3b:00" */
	uint64_t sequence;
	uint64_t time_us;
	unsigned int recovery; /* XID 154: the action that it changed to; else 0 */
	bool of_switch;	       /* an SXid: `address` is the NVSwitch's */
	bool fatal;	       /* an SXid that the driver calls fatal */
	int gpu_instance; /* the instance of a partitioned GPU (MIG), as in "GPU-I:05"; -1: none is
			     named */
	int compute_instance; /* "GPU-CI:01"; -1: none is named */
};

/*
 * Parses an XID in a kernel record. The driver prints one of these (open-gpu-kernel-modules 595,
 * src/nvidia/src/kernel/gpu/rc/kernel_rc.c, krcReportXid; the numbers of instances are %02u):
 *
 *	NVRM: Xid (PCI:0000:3b:00): 79, ...
 *	NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 94, ...
 *	NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): 43, ...
 */
bool osp_xid_parse(const struct osp_kmsg_record *record, struct osp_xid *xid);

/*
 * Parses an SXid, an error of an NVSwitch, in a kernel record (the same sources,
 * src/common/nvswitch, NVSWITCH_PRINT_SXID):
 *
 *	nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up
 *	nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 22013, Non-fatal, Link 60 Minion Link DLREQ
 *	interrupt
 *
 * The records that follow it, "Severity ..." and "Data {...}", belong to it and are not SXids.
 */
bool osp_sxid_parse(const struct osp_kmsg_record *record, struct osp_xid *xid);

/* The records that exist; older ones were overwritten. All 0 if there is none. */
struct osp_kmsg_span {
	uint64_t first; /* sequence number of the first */
	uint64_t next;	/* of the last plus 1 */
	uint64_t first_us;
};

/*
 * Reads all records, oldest first, and calls `take` with each XID and SXid; `span` may be NULL.
 * Returns 0, or errno: EPERM or EACCES if kernel.dmesg_restrict forbids it. If users' netfilter
 * rules may write to the log, a record that may be netfilter's is not taken as an XID. Otherwise it
 * is, because a program can choose a name that makes an XID with this name look like netfilter's
 * record.
 */
int osp_kmsg_xids(const char *root, void (*take)(void *context, const struct osp_xid *xid),
		  void *context, struct osp_kmsg_span *span);

/* The immediate action that NVIDIA's catalogue asks for after an XID. */
enum osp_xid_action {
	OSP_XID_IGNORE,	     /* informational, or reported by another check (63: remapped) */
	OSP_XID_APPLICATION, /* a program's own fault, or contained to it */
	OSP_XID_RESET,
	OSP_XID_REBOOT,
	OSP_XID_EITHER, /* a program's fault or the GPU's: the catalogue asks for a reset */
	OSP_XID_LOOK,	/* cables, power, versions: somebody must look */
	OSP_XID_UNKNOWN,
};
enum osp_xid_action osp_xid_action(unsigned int number);

/* Returns "GPU has fallen off the bus"; "" for an XID without words of ours. */
const char *osp_xid_words(unsigned int number);

#endif
