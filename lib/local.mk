# SPDX-License-Identifier: GPL-2.0-or-later
# lib/: the model and every decision; libonespine, and libbind with hwloc

# Each room knows only those before it; tests/check/layers holds them to it.
# lib/base: tools of the trade
libonespine_la_SOURCES = \
	lib/base/arena.c lib/base/arena.h lib/base/bit_text.c lib/base/bit_text.h lib/base/clean.c lib/base/clean.h lib/base/confine.c \
	lib/base/confine.h lib/topology/csv.c lib/topology/csv.h lib/base/document.c \
	lib/base/document.h lib/env/elf_symbol.c lib/env/elf_symbol.h lib/base/environment.c \
	lib/base/environment.h lib/base/error.c lib/base/error.h lib/topology/file_kind.c \
	lib/topology/file_kind.h lib/env/folder.c lib/env/folder.h lib/env/launcher.c lib/env/launcher.h lib/base/glob.c lib/base/glob.h \
	lib/base/hash.c lib/base/hash.h lib/base/hostlist.c lib/base/hostlist.h lib/base/hostlist_compact.c lib/base/private_file.c lib/base/private_file.h lib/base/name_table.c \
	lib/base/name_table.h lib/base/node_counts.c lib/base/node_counts.h lib/base/nodeset.c \
	lib/base/nodeset.h lib/base/own_lock.c lib/base/own_lock.h lib/topology/pages.c lib/topology/pages.h lib/base/room.c lib/base/room.h \
	lib/base/text.c lib/base/text.h lib/base/trust.c lib/base/trust.h lib/base/value.c lib/env/version.c lib/env/version.h
# lib/conf: Slurm's files
libonespine_la_SOURCES += \
	lib/conf/clustermgtd.c lib/conf/clustermgtd.h \
	lib/conf/fleet_config.c lib/conf/fleet_config.h \
	lib/conf/conf_line.c lib/conf/conf_line.h lib/conf/plugstack.c lib/conf/plugstack.h \
	lib/conf/slurm_conf.c lib/conf/slurm_conf.h lib/conf/slurm_conf_path.c \
	lib/conf/slurm_conf_path.h
# lib/topology: the fabric, its readers and writers
libonespine_la_SOURCES += \
	lib/topology/blocks.c lib/topology/blocks.h lib/topology/builder.c lib/topology/builder.h lib/topology/builder_private.h \
	lib/cloud/block_end.c lib/cloud/block_end.h \
	lib/topology/builder_finish.c lib/topology/compare.c lib/topology/compare.h \
	lib/topology/follow.c lib/topology/follow.h lib/topology/ib_fabric.h lib/topology/ib_hosts.c \
	lib/topology/ib_rails.c lib/topology/ib_scan.c lib/topology/ib_units.c \
	lib/topology/import.c lib/topology/import_build.c \
	lib/topology/import_csv.c lib/topology/import_private.h lib/topology/import_ec2.c \
	lib/topology/import_names.c lib/topology/kind.c lib/topology/kind.h \
	lib/topology/launch_groups.c lib/topology/launch_groups.h lib/topology/leaf_list.c lib/topology/leaf_list.h lib/topology/leaf_pack.c lib/topology/leaf_pack.h \
	lib/topology/level.c lib/topology/level.h lib/topology/merge.c lib/topology/merge.h lib/topology/name_map.c \
	lib/topology/name_map.h lib/topology/place_age.c lib/topology/place_age.h \
	lib/topology/placed_instance.c lib/topology/placed_instance.h lib/topology/readers.h lib/topology/topology.c \
	lib/topology/topology.h lib/topology/topology_assemble.c lib/topology/topology_private.h \
	lib/topology/topology_file.c lib/topology/topology_file_write.c \
	lib/topology/topology_list.c lib/topology/topology_list.h lib/topology/topology_overlay.c lib/topology/topology_parts.h \
	lib/topology/topology_slurm.c lib/topology/topology_slurm_write.c lib/topology/topology_topograph.c \
	lib/topology/topology_yaml.c lib/topology/topology_yaml.h \
	lib/topology/in_control.c lib/topology/in_control.h \
	lib/topology/report.c lib/topology/report.h lib/topology/report_book.c lib/topology/report_book.h \
	lib/topology/slurm_unit.c lib/topology/slurm_unit.h \
	lib/topology/source_words.c lib/topology/source_words.h \
	lib/topology/watch_policy.c lib/topology/watch_policy.h
# lib/place: which domain, which nodes
libonespine_la_SOURCES += \
	lib/place/launch.c lib/place/launch.h \
	lib/place/occupancy.c lib/place/occupancy.h lib/place/occupancy_private.h \
	lib/place/occupancy_times.c \
	lib/place/parts.c lib/place/parts.h lib/place/place.c lib/place/place.h lib/place/place_count.c lib/place/place_leaves.c \
	lib/place/place_pick.c lib/place/place_private.h lib/place/place_sort.c lib/place/place_sort.h \
	lib/place/place_cache.c lib/place/place_time.c lib/place/segments.c lib/place/segments.h lib/place/segments_text.c
# lib/layout: parallel groups, and what order of nodes does to them
libonespine_la_SOURCES += \
	lib/layout/gang_order.c lib/layout/gang_order.h lib/layout/gang_order_private.h \
	lib/layout/gang_start.c lib/layout/gang_start.h lib/layout/gang_start_read.c \
	lib/layout/gang_segments.c lib/layout/gang_segments.h \
	lib/layout/layout.c lib/layout/layout.h lib/layout/layout_groups.c \
	lib/layout/layout_model.c lib/layout/layout_nodes.c lib/layout/layout_nodes.h \
	lib/layout/layout_order.c lib/layout/layout_plan.c \
	lib/layout/layout_plan.h lib/layout/layout_segments.c lib/layout/layout_segments.h \
	lib/layout/layout_spread.c lib/layout/layout_traffic.c \
	lib/layout/layout_traffic.h
# lib/choose: where and when a gang starts
libonespine_la_SOURCES += \
	lib/choose/choose.c lib/choose/choose.h lib/choose/choose_answers.c lib/choose/choose_later.c \
	lib/choose/choose_memory.c lib/choose/choose_parts.c lib/choose/choose_parts_later.c \
	lib/choose/choose_parts_tries.c lib/choose/choose_parts_private.h lib/choose/choose_preempt.c \
	lib/choose/choose_saved.c lib/choose/component_plans.c lib/choose/component_plans.h \
	lib/choose/components.c lib/choose/components.h lib/choose/components_list.c lib/choose/components_list.h \
	lib/choose/large.c lib/choose/large.h \
	lib/choose/components_private.h lib/choose/components_slow.c \
	lib/choose/choose_private.h
# lib/health: what checks may find, and what is kept of it
libonespine_la_SOURCES += \
	lib/health/evidence.c lib/health/evidence.h \
	lib/health/fresh.c lib/health/fresh.h lib/health/hang.c lib/health/hang.h \
	lib/health/history.c lib/health/history.h \
	lib/health/history_policy.c lib/health/history_policy.h lib/health/pass_file.c \
	lib/health/reason.c lib/health/reason.h lib/health/speed.c lib/health/speed.h \
	lib/health/thresholds.c lib/health/thresholds.h lib/health/thresholds_private.h lib/health/verdict.c lib/health/verdict.h
# lib/gate: the gate
libonespine_la_SOURCES += \
	lib/gate/breaker.c lib/gate/breaker.h lib/gate/gate.c lib/gate/gate.h \
	lib/gate/gate_barrier.c lib/gate/gate_barrier.h lib/gate/gate_links.c \
	lib/gate/gate_links.h lib/gate/gate_message.c lib/gate/gate_message.h \
	lib/gate/gate_gres.c lib/gate/gate_gres.h \
	lib/gate/gate_policy.c lib/gate/gate_policy.h lib/gate/gate_reduce.c \
	lib/gate/quarantine.c lib/gate/quarantine.h \
	lib/gate/gate_reduce.h lib/gate/gate_exclude.c lib/gate/gate_exclude.h \
	lib/gate/gate_suspects.c lib/gate/gate_suspects.h lib/gate/gate_traffic.c \
	lib/gate/gate_traffic.h \
	lib/gate/gate_tree.c lib/gate/gate_tree.h \
	lib/gate/gate_verdict.c lib/gate/gate_verdict.h lib/gate/gate_text.c \
	lib/gate/gate_text.h lib/gate/secrets.c lib/gate/secrets.h
# lib/policy: onespine.yaml, requests, what people read
libonespine_la_SOURCES += \
	lib/policy/config_names.c lib/policy/config_names.h lib/policy/config.c lib/policy/config.h lib/policy/config_private.h lib/policy/config_show.c \
	lib/policy/conflict.c lib/policy/conflict.h lib/policy/effective.c lib/policy/effective.h \
	lib/policy/features.c lib/policy/features.h \
	lib/policy/gang_license.c lib/policy/gang_license.h \
	lib/policy/job_options.c lib/policy/job_options.h lib/policy/launch_error.c lib/policy/launch_error.h lib/policy/launchable.c lib/policy/launchable.h lib/policy/license_request.c lib/policy/license_request.h lib/policy/mode.c lib/policy/node_policy.c lib/policy/node_policy.h lib/policy/note.c \
	lib/policy/note.h lib/policy/promise.c lib/policy/promise.h lib/policy/request.c \
	lib/policy/request.h lib/policy/request_parts.c lib/policy/request_parts.h lib/policy/spares.c lib/policy/spares.h lib/policy/waiting.c lib/policy/waiting.h \
	lib/policy/sentences.c lib/policy/sentences.h \
	lib/policy/sentences_segments.c
# lib/doctor: what may be wrong with a cluster, and the cure
libonespine_la_SOURCES += \
	lib/doctor/cloud_facts.h \
	lib/doctor/doctor.c lib/doctor/doctor.h lib/doctor/doctor_cloud.c lib/doctor/doctor_clustermgtd.c lib/doctor/doctor_cluster.c \
	lib/doctor/doctor_gate.c lib/doctor/doctor_node.c lib/doctor/doctor_parts.c lib/doctor/doctor_plugins.c \
	lib/doctor/doctor_private.h
# lib/env: nodes, their software, rules for the environment
libonespine_la_SOURCES += \
	lib/env/catalogue.c lib/env/catalogue.h lib/env/env_lint.c lib/env/env_lint.h \
	lib/cache/env_same.c lib/cache/env_same.h \
	lib/env/env_print.c lib/env/env_print.h lib/env/facts.c lib/env/facts.h \
	lib/env/node_facts.c lib/env/node_facts.h lib/env/node_hcas.c lib/env/node_hcas.h \
	lib/env/node_software.c lib/env/node_software.h lib/env/rules.c lib/env/rules.h \
	lib/env/rules_check.c lib/env/rules_private.h lib/env/rules_decide.c lib/env/script.c \
	lib/env/script_private.h lib/env/script_commands.c lib/env/script_border.c \
	lib/env/script_document.c lib/env/script_settings.c \
	lib/env/script_course.c lib/env/script_course.h lib/env/script_flow.c lib/env/script_flow.h \
	lib/env/script_layout.c lib/env/script_layout.h \
	lib/env/script_options.c lib/env/script_options.h lib/env/script_gpus.c lib/env/script_shape.c lib/env/script_shape.h \
	lib/env/script_shape_private.h lib/env/script_start.c lib/env/script_value.c lib/env/script_value.h \
	lib/env/variables.c lib/env/variables.h \
	lib/env/shell_text.c lib/env/shell_text.h lib/env/user_env.c lib/env/user_env.h \
	lib/env/version_rules.c lib/env/version_rules.h
libonespine_la_LIBADD = $(YAML_LIBS)

# Binding: a library of its own, so that hwloc and expat come into no Slurm daemon by the others.
if HAVE_HWLOC
noinst_LTLIBRARIES += libbind.la
libbind_la_SOURCES = \
	lib/bind/expat_position.h lib/bind/xml.c lib/bind/xml.h lib/bind/bind.c \
	lib/bind/bind.h lib/bind/bind_child.c lib/bind/bind_child.h lib/bind/bind_cpus.c \
	lib/bind/bind_devices.c lib/bind/bind_devices.h lib/bind/bind_machine.c \
	lib/bind/bind_machine.h lib/bind/bind_machine_text.c lib/bind/bind_machine_text.h \
	lib/bind/bind_private.h lib/bind/bind_process.c lib/bind/bind_process.h \
	lib/bind/bind_reasons.c lib/bind/nccl_topology.c lib/bind/nccl_topology.h \
	lib/bind/machine_shape.h lib/bind/nccl_topology_fill.c \
	lib/bind/nccl_topology_private.h lib/bind/nccl_topology_write.c lib/cache/node_cache.c \
	lib/cache/node_cache.h lib/cache/node_stamp.c lib/cache/node_stamp.h lib/cache/rules_image.c \
	lib/cache/rules_image.h
libbind_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS) $(EXPAT_CFLAGS)
libbind_la_LIBADD = $(HWLOC_LIBS) $(EXPAT_LIBS)
endif

# What clouds say: a library of its own, for expat comes into no Slurm daemon by the others.
if HAVE_CLOUD
noinst_LTLIBRARIES += libcloud.la
libcloud_la_SOURCES = \
	lib/cloud/ec2_answer.c lib/cloud/ec2_answer.h lib/cloud/ec2_refusal.c \
	lib/cloud/profile.c lib/cloud/profile.h lib/cloud/sigv4.c lib/cloud/sigv4.h
libcloud_la_CPPFLAGS = $(AM_CPPFLAGS) $(EXPAT_CFLAGS)
libcloud_la_LIBADD = $(EXPAT_LIBS)
endif
