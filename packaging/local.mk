# SPDX-License-Identifier: GPL-2.0-or-later
# packaging/ and debian/: packages

# Packages: debian/, and for rpm packaging/onespine.spec. in-use.sh keeps them from being removed while
# slurm.conf names what they have.
dist_pkgdata_DATA = packaging/in-use.sh
EXTRA_DIST += packaging/onespine.spec packaging/slurm-range packaging/split debian/changelog debian/control \
	debian/copyright debian/onespine-placement.lintian-overrides debian/onespine.postrm debian/onespine.prerm \
	debian/onespine-gate.postrm debian/onespine-gate.prerm debian/onespine-placement.prerm debian/onespine-spank.prerm \
	debian/rules debian/source/format \
	tests/packages/inside tests/packages/rpms tests/packages/run tests/packages/slurm.bash \
	tests/packages/sources tools/package
