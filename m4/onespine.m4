# SPDX-License-Identifier: GPL-2.0-or-later
# One macro for each thing that configure looks for; what is absent turns off what needs it, and
# OSP_SUMMARY says so.

# -std=gnu11 and the project's warnings; --enable-werror for tests, never by default;
# --enable-sanitizers builds everything with AddressSanitizer and UndefinedBehaviorSanitizer.
AC_DEFUN([OSP_COMPILER_FLAGS], [
	OSP_CFLAGS="-std=gnu11 -Werror=implicit-function-declaration -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes"
	OSP_CFLAGS="$OSP_CFLAGS -fno-strict-aliasing"
	AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors])])
	AS_IF([test "x$enable_werror" = xyes], [OSP_CFLAGS="$OSP_CFLAGS -Werror"])
	AC_ARG_ENABLE([sanitizers],
		[AS_HELP_STRING([--enable-sanitizers], [build with ASan and UBSan])])
	AS_IF([test "x$enable_sanitizers" = xyes], [
		OSP_CFLAGS="$OSP_CFLAGS -fsanitize=address,undefined -fno-sanitize-recover=all"
		OSP_CFLAGS="$OSP_CFLAGS -fno-omit-frame-pointer"
		OSP_LDFLAGS="-fsanitize=address,undefined"
		AC_DEFINE([OSP_SANITIZED], [1], [Define if built with sanitizers, whose own memory has no bound.])
	])
	AC_SUBST([OSP_CFLAGS])
	AC_SUBST([OSP_LDFLAGS])
])

# For debian/ and packaging/onespine.spec: parts may be missing on a host, and are named by their packages.
AC_DEFUN([OSP_PARTS], [
	AC_ARG_ENABLE([packages],
		[AS_HELP_STRING([--enable-packages], [the parts go into packages of their own, which doctor names])])
	AS_IF([test "x$enable_packages" = xyes],
		[AC_DEFINE([OSP_PACKAGES], [1], [Define if placement, gate and environment are packages of their own.])])
])

# OSP_PKG(NAME, pkg-config module, what it is for)
AC_DEFUN([OSP_PKG], [
	PKG_CHECK_MODULES([$1], [$2], [have_$1=yes], [have_$1=no])
])

AC_DEFUN([OSP_CHECK_YAML], [
	OSP_PKG([YAML], [yaml-0.1 >= 0.2])
	AS_IF([test "x$have_YAML" = xno],
		[AC_MSG_ERROR([libyaml is needed (Debian: libyaml-dev; it reads every file of ours)])])
])

# dlopen() is in the C library from glibc 2.34 on.
AC_DEFUN([OSP_CHECK_DLOPEN], [
	osp_saved_libs=$LIBS
	AC_SEARCH_LIBS([dlopen], [dl])
	LIBS=$osp_saved_libs
	AS_CASE([$ac_cv_search_dlopen], [-l*], [DL_LIBS=$ac_cv_search_dlopen], [DL_LIBS=])
	AC_SUBST([DL_LIBS])
])

AC_DEFUN([OSP_CHECK_JANSSON], [
	OSP_PKG([JANSSON], [jansson >= 2.10])
	AM_CONDITIONAL([HAVE_JANSSON], [test "x$have_JANSSON" = xyes])
])

AC_DEFUN([OSP_CHECK_HWLOC], [
	OSP_PKG([HWLOC], [hwloc >= 2.0])
	AM_CONDITIONAL([HAVE_HWLOC], [test "x$have_HWLOC" = xyes])
])

# Reads NCCL's topologies; hwloc's are read without it.
AC_DEFUN([OSP_CHECK_EXPAT], [
	OSP_PKG([EXPAT], [expat >= 2.0])
	AS_IF([test "x$have_EXPAT" = xyes], [EXPAT_CFLAGS="$EXPAT_CFLAGS -DOSP_HAVE_EXPAT=1"],
		[EXPAT_CFLAGS= EXPAT_LIBS=])
	AM_CONDITIONAL([HAVE_EXPAT], [test "x$have_EXPAT" = xyes])
])

# EC2 is asked over curl (CURLOPT_AWS_SIGV4 from 7.75 on) and answers in XML.
AC_DEFUN([OSP_CHECK_CLOUD], [
	OSP_PKG([CURL], [libcurl >= 7.75])
	have_CLOUD=no
	AS_IF([test "x$have_CURL$have_EXPAT" = xyesyes], [have_CLOUD=yes])
	AM_CONDITIONAL([HAVE_CLOUD], [test "x$have_CLOUD" = xyes])
])

AC_DEFUN([OSP_CHECK_MUNGE], [
	OSP_PKG([MUNGE], [munge >= 0.5])
	AM_CONDITIONAL([HAVE_MUNGE], [test "x$have_MUNGE" = xyes])
])

# The gate's own keys, for clusters without MUNGE. Without it a gate uses MUNGE alone.
AC_DEFUN([OSP_CHECK_SODIUM], [
	OSP_PKG([SODIUM], [libsodium >= 1.0.12])
	AS_IF([test "x$have_SODIUM" = xyes],
		[AC_DEFINE([OSP_HAVE_SODIUM], [1], [Define if gates can use a key instead of MUNGE.])],
		[SODIUM_CFLAGS= SODIUM_LIBS=])
	AM_CONDITIONAL([HAVE_SODIUM], [test "x$have_SODIUM" = xyes])
])

AC_DEFUN([OSP_CHECK_CMOCKA], [
	OSP_PKG([CMOCKA], [cmocka >= 1.1])
	AM_CONDITIONAL([HAVE_CMOCKA], [test "x$have_CMOCKA" = xyes])
])

# Slurm's installed headers, its version and its plugin directory.
AC_DEFUN([OSP_CHECK_SLURM], [
	AC_ARG_WITH([slurm],
		[AS_HELP_STRING([--with-slurm=DIR], [where Slurm is installed (default: /usr, then /opt/slurm)])],
		[], [with_slurm=check])
	have_SLURM=no
	SLURM_CPPFLAGS=
	SLURM_LIBS=
	SLURM_VERSION=none
	AS_CASE([$with_slurm], [no], [slurm_prefixes=],
		[check|yes], [slurm_prefixes="/usr /usr/local /opt/slurm"], [slurm_prefixes=$with_slurm])
	AC_MSG_CHECKING([for Slurm])
	for slurm_dir in $slurm_prefixes; do
		AS_IF([test -r "$slurm_dir/include/slurm/spank.h"], [
			have_SLURM=yes
			slurm_prefix=$slurm_dir
			AS_IF([test "x$slurm_dir" != x/usr], [SLURM_CPPFLAGS="-isystem $slurm_dir/include"])
			break
		])
	done
	AC_MSG_RESULT([$have_SLURM])
	AS_IF([test $have_SLURM = yes], [
		AC_MSG_CHECKING([Slurm's version])
		slurm_number=$($SED -n 's/^#define SLURM_VERSION_NUMBER *\(0x@<:@0-9a-f@:>@*\).*/\1/p' \
			"$slurm_prefix/include/slurm/slurm_version.h")
		SLURM_VERSION=$(printf '%d.%02d.%d' $((slurm_number >> 16)) \
			$((slurm_number >> 8 & 255)) $((slurm_number & 255)))
		AC_MSG_RESULT([$SLURM_VERSION])
	])
	AC_ARG_WITH([slurm-plugins],
		[AS_HELP_STRING([--with-slurm-plugins=DIR], [Slurm's own plugin directory])],
		[SLURM_PLUGINS=$withval], [
		AC_MSG_CHECKING([for Slurm's plugin directory])
		SLURM_PLUGINS=none
		multiarch=$($CC -print-multiarch 2>/dev/null)
		for dir in "$slurm_prefix/lib/$multiarch/slurm-wlm" "$slurm_prefix/lib/$multiarch/slurm" \
			"$slurm_prefix/lib64/slurm" "$slurm_prefix/lib/slurm"; do
			AS_IF([test -e "$dir/select_cons_tres.so"], [SLURM_PLUGINS=$dir; break])
		done
		AC_MSG_RESULT([$SLURM_PLUGINS])
	])
	# Distributions patch Slurm without another number: their version of its source, or the number.
	SLURM_BUILD=$SLURM_VERSION
	slurm_plugin=$SLURM_PLUGINS/select_cons_tres.so
	slurm_build=$(package=$(dpkg-query -S "$slurm_plugin" 2>/dev/null) &&
		dpkg-query -W -f '${source:Version}' "${package%%: *}" 2>/dev/null ||
		rpm -qf --qf '%{VERSION}-%{RELEASE}' "$slurm_plugin" 2>/dev/null)
	slurm_build=$(printf '%s' "$slurm_build" | $SED 's/^@<:@0-9@:>@*://')
	AS_CASE([$slurm_build], ["$SLURM_VERSION"-*], [SLURM_BUILD=$slurm_build])
	AC_SUBST([SLURM_BUILD])
	# Calls that take a step's id from 26.05 on then still take a job's number.
	SLURM_CPPFLAGS="$SLURM_CPPFLAGS -DSLURM_BACKWARD_COMPAT"
	slurm_libdir=$(dirname "$SLURM_PLUGINS")
	AS_IF([test $have_SLURM = yes], [
		SLURM_LIBS=-lslurm
		AS_IF([test "x$slurm_prefix" != x/usr],
			[SLURM_LIBS="-L$slurm_libdir -Wl,-rpath,$slurm_libdir -lslurm"])
	])
	AC_SUBST([SLURM_CPPFLAGS])
	AC_SUBST([SLURM_LIBS])
	AC_SUBST([SLURM_VERSION])
	AC_SUBST([SLURM_PLUGINS])
	# Words of a refused update, which later releases send.
	osp_saved_cppflags=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
	AC_CHECK_MEMBERS([job_array_resp_msg_t.err_msg], [], [], [[#include <slurm/slurm.h>]])
	# Up to 25.11 a job is named by number alone, and whoever changes a node says who he is.
	AC_CHECK_MEMBERS([job_desc_msg_t.job_id, update_node_msg_t.reason_uid], [], [],
		[[#include <slurm/slurm.h>]])
	# The instance that a node is, from 23.11 on.
	AC_CHECK_MEMBERS([struct node_info.instance_id], [], [], [[#include <slurm/slurm.h>]])
	# What jobs have of a node's memory; before, slurm_get_select_nodeinfo() says it.
	AC_CHECK_MEMBERS([struct node_info.alloc_memory], [], [], [[#include <slurm/slurm.h>]])
	# What frees what slurm_load_ctl_conf() gave: slurm_free_ctl_conf() up to 25.11.
	AC_CHECK_DECLS([slurm_free_conf], [], [], [[#include <slurm/slurm.h>]])
	# What slurmctld made of topology.yaml, from 25.05 on.
	AC_CHECK_DECLS([slurm_load_topo_config], [], [], [[#include <slurm/slurm.h>]])
	CPPFLAGS=$osp_saved_cppflags
	AM_CONDITIONAL([HAVE_SLURM], [test $have_SLURM = yes])
])

# Slurm's internal headers: the configured source tree of exactly the installed version.
AC_DEFUN([OSP_CHECK_SLURM_SOURCE], [
	AC_ARG_WITH([slurm-source],
		[AS_HELP_STRING([--with-slurm-source=DIR],
			[configured Slurm source tree (tools/fetch-slurm-source gets it); needed for the shadow])],
		[], [with_slurm_source=no])
	have_SLURM_SOURCE=no
	slurm_source_why="no --with-slurm-source"
	AS_IF([test "x$with_slurm_source" != xno], [
		AC_MSG_CHECKING([for Slurm's internal headers])
		AS_IF([test ! -r "$with_slurm_source/src/slurmctld/slurmctld.h"],
			[AC_MSG_ERROR([$with_slurm_source is not a Slurm source tree])],
			[test ! -r "$with_slurm_source/slurm/slurm_version.h"],
			[AC_MSG_ERROR([$with_slurm_source is not configured: run ./configure there])])
		source_number=$($SED -n 's/^#define SLURM_VERSION_NUMBER *\(0x@<:@0-9a-f@:>@*\).*/\1/p' \
			"$with_slurm_source/slurm/slurm_version.h")
		AS_IF([test $have_SLURM = yes && test $((source_number)) -ne $((slurm_number))],
			[AC_MSG_ERROR([$with_slurm_source is another version than the installed $SLURM_VERSION])])
		have_SLURM_SOURCE=yes
		AC_MSG_RESULT([yes])
	])
	have_SHADOW=no
	AS_IF([test $have_SLURM_SOURCE = no], [:],
		[test "x$SLURM_PLUGINS" = xnone], [slurm_source_why="no plugin directory of Slurm"],
		[have_SHADOW=yes])
	SLURM_SOURCE=$with_slurm_source
	AC_SUBST([SLURM_SOURCE])
	AM_CONDITIONAL([HAVE_SHADOW], [test $have_SHADOW = yes])
])

# nvcc that compiles for every architecture of ours, for the fat binary; without it the kernels are PTX alone.
AC_DEFUN([OSP_CHECK_NVCC], [
	AC_ARG_WITH([nvcc],
		[AS_HELP_STRING([--with-nvcc=PATH], [nvcc of CUDA 12.9 or later (default: in PATH, then /usr/local/cuda/bin)])],
		[], [with_nvcc=check])
	NVCC=no
	NVCC_CUDA=0
	nvcc_why="nvcc not found"
	NVCC_TARGETS=
	for sm in 75 80 86 89 90 100 103 120; do
		NVCC_TARGETS="$NVCC_TARGETS -gencode arch=compute_$sm,code=sm_$sm"
	done
	AS_CASE([$with_nvcc], [no], [nvcc_why="--without-nvcc"],
		[check|yes], [AC_PATH_PROG([NVCC], [nvcc], [no], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])],
		[NVCC=$with_nvcc])
	AS_IF([test "x$NVCC" != xno], [
		AC_MSG_CHECKING([whether $NVCC knows every architecture])
		# compiled for one, as each takes a quarter of a second
		echo '__global__ void nothing() {}' >conftest.cu
		nvcc_knows=" $($NVCC --list-gpu-code 2>&AS_MESSAGE_LOG_FD | tr '\n' ' ')"
		nvcc_lacks=
		for sm in 75 80 86 89 90 100 103 120; do
			AS_CASE([$nvcc_knows], [*" sm_$sm "*], [], [nvcc_lacks="$nvcc_lacks sm_$sm"])
		done
		AS_IF([test -z "$nvcc_lacks" &&
			$NVCC -gencode arch=compute_90,code=sm_90 -fatbin -o conftest.fatbin conftest.cu >&AS_MESSAGE_LOG_FD 2>&1], [
			NVCC_CUDA=$($NVCC --version | $SED -n 's/.*release \(@<:@0-9@:>@*\)\.\(@<:@0-9@:>@*\).*/\1 \2/p' |
				awk '{ print $[]1 * 1000 + $[]2 * 10 }')
			AC_MSG_RESULT([yes, CUDA release $NVCC_CUDA])
		], [
			AC_MSG_RESULT([no])
			nvcc_why="$NVCC does not compile for sm_75 to sm_120 (CUDA 12.9 or later does)"
			NVCC=no
		])
		rm -f conftest.cu conftest.fatbin
	])
	AC_SUBST([NVCC])
	AC_SUBST([NVCC_CUDA])
	AC_SUBST([NVCC_TARGETS])
	AM_CONDITIONAL([HAVE_NVCC], [test "x$NVCC" != xno])
])

AC_DEFUN([OSP_SUMMARY], [
	osp_spank=yes
	osp_shadow=$have_SHADOW
	AS_IF([test $have_SLURM = no], [osp_spank="no (Slurm's headers not found: libslurm-dev, or --with-slurm)"])
	AS_IF([test $have_SHADOW = no], [osp_shadow="no ($slurm_source_why)"])
	osp_command=yes
	AS_IF([test $have_SLURM = no], [osp_command="no (Slurm's headers not found)"],
		[test "x$have_JANSSON" = xno], [osp_command="no (jansson not found: libjansson-dev)"])
	osp_tests=yes
	AS_IF([test "x$have_CMOCKA" = xno], [osp_tests="no (cmocka not found: libcmocka-dev)"])
	osp_bind="yes, with NCCL's topologies"
	AS_IF([test "x$have_HWLOC" = xno], [osp_bind="no (hwloc not found: libhwloc-dev)"],
		[test "x$have_EXPAT" = xno],
		[osp_bind="yes, without NCCL's topologies (expat not found: libexpat1-dev)"])
	# $libdir is ${exec_prefix}/lib, and that ${prefix}; which is NONE when nobody said one
	osp_plugins=`test "x$prefix" != xNONE || prefix=$ac_default_prefix
		test "x$exec_prefix" != xNONE || exec_prefix=$prefix
		eval eval "echo $libdir/onespine"`
	osp_samples=`test "x$prefix" != xNONE || prefix=$ac_default_prefix; eval eval "echo $sysconfdir/onespine"`
	osp_kernels="PTX and a fat binary by $NVCC"
	AS_IF([test "x$NVCC" = xno], [osp_kernels="PTX alone ($nvcc_why)"])
	AC_MSG_NOTICE([
onespine $PACKAGE_VERSION will be built as follows

  Slurm                    $SLURM_VERSION
  its plugins              $SLURM_PLUGINS
  its source               $SLURM_SOURCE
  onespine.so (SPANK)      $osp_spank
  job_submit_onespine.so   $osp_spank
  select_cons_tres.so      $osp_shadow
  onespine (command)       $osp_command
  unit tests               $osp_tests
  binding                  $osp_bind
  libmunge                 $have_MUNGE
  libsodium                $have_SODIUM
  EC2 (curl and expat)     $have_CLOUD
  GPU kernels              $osp_kernels
  hardening                $osp_hardening
  plugins go to            $osp_plugins
  samples go to            $osp_samples
])
])
