# SPDX-License-Identifier: GPL-2.0-or-later
# etc/: files that are installed unchanged, and files made for Slurm's own configuration

# Not by its own name, so that nobody edits it instead of the one beside slurm.conf.
EXTRA_DIST += etc/onespine.yaml
nodist_samples_DATA = etc/onespine.yaml.example etc/thresholds.yaml.example
CLEANFILES += etc/onespine.yaml.example etc/thresholds.yaml.example
etc/onespine.yaml.example: $(srcdir)/etc/onespine.yaml
	$(AM_V_GEN)$(MKDIR_P) etc && cp $(srcdir)/etc/onespine.yaml $@.new && mv $@.new $@
etc/thresholds.yaml.example: $(srcdir)/etc/thresholds.yaml
	$(AM_V_GEN)$(MKDIR_P) etc && cp $(srcdir)/etc/thresholds.yaml $@.new && mv $@.new $@

# Where systemd looks when the prefix is /usr or /usr/local; enabled by nobody but the administrator.
unitdir = $(prefix)/lib/systemd/system
dist_unit_DATA = etc/systemd/onespine-recheck.timer
nodist_unit_DATA = etc/systemd/onespine-recheck.service etc/systemd/onespine-topology-watch.service \
	etc/systemd/onespine-report.service
EXTRA_DIST += etc/systemd/onespine-recheck.service.in etc/systemd/onespine-topology-watch.service.in \
	etc/systemd/onespine-report.service.in
CLEANFILES += etc/systemd/onespine-recheck.service etc/systemd/onespine-topology-watch.service \
	etc/systemd/onespine-report.service
etc/systemd/onespine-report.service: $(srcdir)/etc/systemd/onespine-report.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc/systemd && $(SED) -e 's|@pkglibexecdir[@]|$(pkglibexecdir)|' -e 's|@samplesdir[@]|$(samplesdir)|' \
		$(srcdir)/etc/systemd/onespine-report.service.in >$@.new && mv $@.new $@
etc/systemd/onespine-topology-watch.service: $(srcdir)/etc/systemd/onespine-topology-watch.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc/systemd && $(SED) -e 's|@bindir[@]|$(bindir)|' -e 's|@samplesdir[@]|$(samplesdir)|' \
		$(srcdir)/etc/systemd/onespine-topology-watch.service.in >$@.new && mv $@.new $@
etc/systemd/onespine-recheck.service: $(srcdir)/etc/systemd/onespine-recheck.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc/systemd && $(SED) -e 's|@bindir[@]|$(bindir)|' -e 's|@statedir[@]|$(statedir)|' \
		$(srcdir)/etc/systemd/onespine-recheck.service.in >$@.new && mv $@.new $@

# Where logrotate looks when sysconfdir is /etc; else `onespine setup` writes it.
logrotatedir = $(sysconfdir)/logrotate.d
nodist_logrotate_DATA = etc/logrotate.d/onespine
EXTRA_DIST += etc/logrotate.d/onespine.in
CLEANFILES += etc/logrotate.d/onespine
etc/logrotate.d/onespine: $(srcdir)/etc/logrotate.d/onespine.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc/logrotate.d && $(SED) -e 's|@logdir[@]|$(logdir)|' \
		$(srcdir)/etc/logrotate.d/onespine.in >$@.new && mv $@.new $@

# The catalogue and the rules that `onespine env` reads; a site's own go to instances.d and rules.d beside
# onespine.yaml, where no update writes.
instancesdir = $(pkgdatadir)/instances
dist_instances_DATA = \
	etc/instances/aws-g.yaml \
	etc/instances/aws-neuron.yaml \
	etc/instances/aws-p.yaml \
	etc/instances/other.yaml
rulesdir = $(pkgdatadir)/rules
dist_rules_DATA = \
	etc/rules/10-efa.yaml \
	etc/rules/20-nccl.yaml \
	etc/rules/30-infiniband.yaml \
	etc/rules/40-host.yaml \
	etc/rules/50-versions.yaml
variablesdir = $(pkgdatadir)/variables
dist_variables_DATA = \
	etc/variables/10-nccl.yaml \
	etc/variables/20-aws-ofi-nccl.yaml \
	etc/variables/30-libfabric.yaml \
	etc/variables/40-pytorch-ucx.yaml
installdirs-local:
	$(MKDIR_P) '$(DESTDIR)$(samplesdir)/instances.d' '$(DESTDIR)$(samplesdir)/rules.d' \
		'$(DESTDIR)$(samplesdir)/checks.d'
	$(MKDIR_P) -m 700 '$(DESTDIR)$(statedir)' '$(DESTDIR)$(logdir)'
install-data-local: installdirs-local

# Programs and samples for Slurm's own files, with the folders of this installation.
SLURMD_RUNS = etc/prolog etc/epilog
EXTRA_DIST += etc/prolog.in etc/epilog.in
CLEANFILES += $(SLURMD_RUNS)
if HAVE_SLURM
if HAVE_MUNGE
gatedir = $(onespineexecdir)
gate_SCRIPTS = $(SLURMD_RUNS)
endif
endif
SLURM_SAMPLES = etc/plugstack.conf.example etc/slurm.conf.example etc/slurmctld.service.example
EXTRA_DIST += etc/plugstack.conf.example.in etc/slurm.conf.example.in etc/slurmctld.service.example.in
CLEANFILES += $(SLURM_SAMPLES)
if HAVE_SLURM
samples_DATA = $(SLURM_SAMPLES)
endif
$(SLURM_SAMPLES) $(SLURMD_RUNS): %: $(srcdir)/%.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc && $(SED) -e 's|@shadowdir[@]|$(shadowexecdir)|' \
		-e 's|@plugindir[@]|$(onespineexecdir)|' -e 's|@logdir[@]|$(logdir)|' -e 's|@bindir[@]|$(bindir)|' \
		-e 's|@pkglibexecdir[@]|$(pkglibexecdir)|' -e 's|@SLURM_PLUGINS[@]|$(SLURM_PLUGINS)|' \
		$< >$@.new && mv $@.new $@
# A site's own checks, to copy from (doc/checks.md).
ownchecksdir = $(pkgdatadir)/checks
dist_ownchecks_SCRIPTS = etc/examples/checks.d/50-nhc etc/examples/checks.d/60-dcgmi-diag
# AWS ParallelCluster: the custom action, a cluster configuration.
parallelclusterdir = $(pkgdatadir)/parallelcluster
dist_parallelcluster_SCRIPTS = etc/parallelcluster/onespine-node
dist_parallelcluster_DATA = etc/parallelcluster/cluster.yaml
EXTRA_DIST += tests/data/parallelcluster
EXTRA_DIST += etc/examples/p5-16-instances.json etc/examples/p5-16-topology.json \
	tests/data/ec2/mixed-page1.json tests/data/ec2/mixed-page2.json \
	tests/data/ec2/reservations.json tests/data/ec2/reservations.map \
	tests/data/ec2/ultraservers.json \
	tests/data/bind \
	tests/data/topology/rails.conf tests/data/topology/rails.topology \
	tests/data/topology/tree.conf tests/data/topology/tree.topology \
	tests/data/topology/zones.conf tests/data/topology/zones.topology \
	tests/data/infiniband
