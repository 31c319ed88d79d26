# SPDX-License-Identifier: GPL-2.0-or-later
# What the compiler and the linker can do against memory errors that are left. tests/check/hardening reads
# each from the objects.

# OSP_TRY_FLAG(VARIABLE, FLAG): adds FLAG to VARIABLE if the compiler and the linker take it without a warning
AC_DEFUN([OSP_TRY_FLAG], [
	osp_saved_cflags=$CFLAGS
	CFLAGS="$CFLAGS -Werror $2"
	AC_MSG_CHECKING([whether $CC takes $2])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[char a[8]; memset(a, 0, sizeof(a)); return a[0];]])],
		[osp_taken=yes
		$1="$$1 $2"], [osp_taken=no])
	AC_MSG_RESULT([$osp_taken])
	CFLAGS=$osp_saved_cflags
])

# OSP_HARDENING_CFLAGS for all objects; OSP_PROGRAM_CFLAGS and OSP_PROGRAM_LDFLAGS for programs alone.
#
# Programs are position-independent and bind every function at their start. What Slurm loads binds lazily: its
# clients load the shadow too, where slurmctld's functions are not there.
#
# Sanitizers look at the same memory by other means, and do not see through _FORTIFY_SOURCE's functions. What
# CFLAGS or CPPFLAGS say of _FORTIFY_SOURCE stays.
AC_DEFUN([OSP_HARDENING], [
	AC_ARG_ENABLE([hardening],
		[AS_HELP_STRING([--disable-hardening], [without stack protector, fortify, RELRO, PIE and control-flow protection])])
	OSP_HARDENING_CFLAGS=
	OSP_PROGRAM_CFLAGS=
	OSP_PROGRAM_LDFLAGS=
	OSP_HARDENING_LDFLAGS=
	AS_IF([test "x$enable_hardening" = xno || test "x$enable_sanitizers" = xyes], [osp_hardening=no], [
		osp_hardening=yes
		for flag in -fstack-protector-strong -fstack-clash-protection; do
			OSP_TRY_FLAG([OSP_HARDENING_CFLAGS], [$flag])
		done
		AS_CASE([$host_cpu],
			[x86_64|i?86], [OSP_TRY_FLAG([OSP_HARDENING_CFLAGS], [-fcf-protection])],
			[aarch64], [OSP_TRY_FLAG([OSP_HARDENING_CFLAGS], [-mbranch-protection=standard])])
		AS_CASE(["$CPPFLAGS $CFLAGS"], [*_FORTIFY_SOURCE*], [:], [
			osp_before=$OSP_HARDENING_CFLAGS
			for level in 3 2; do
				AS_IF([test "x$osp_before" = "x$OSP_HARDENING_CFLAGS"],
					[OSP_TRY_FLAG([OSP_HARDENING_CFLAGS], [-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$level])])
			done
		])
		for flag in -Wl,-z,relro -Wl,-z,noexecstack; do
			OSP_TRY_FLAG([OSP_HARDENING_LDFLAGS], [$flag])
		done
		OSP_TRY_FLAG([OSP_PROGRAM_CFLAGS], [-fPIE])
		for flag in -pie -Wl,-z,now; do
			OSP_TRY_FLAG([OSP_PROGRAM_LDFLAGS], [$flag])
		done
	])
	OSP_CFLAGS="$OSP_CFLAGS$OSP_HARDENING_CFLAGS"
	OSP_LDFLAGS="$OSP_LDFLAGS$OSP_HARDENING_LDFLAGS"
	AC_SUBST([osp_hardening])
	AC_SUBST([OSP_PROGRAM_CFLAGS])
	AC_SUBST([OSP_PROGRAM_LDFLAGS])
])
