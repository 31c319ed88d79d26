# SPDX-License-Identifier: GPL-2.0-or-later
# tests/unit: cmocka, no Slurm

if HAVE_CMOCKA
UNIT_TESTS =
UNIT_LIBS = libonespine.la $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test_arena tests/unit/test_document tests/unit/test_hostlist tests/unit/test_nodeset \
	tests/unit/test_clean tests/unit/test_compare tests/unit/test_confine tests/unit/test_follow tests/unit/test_in_control tests/unit/test_own_lock \
	tests/unit/test_merge tests/unit/test_no_memory tests/unit/test_overlay tests/unit/test_overlay_place tests/unit/test_place_age tests/unit/test_readers tests/unit/test_level tests/unit/test_report tests/unit/test_slurm_unit tests/unit/test_text \
	tests/unit/test_topology
tests_unit_test_arena_LDADD = $(UNIT_LIBS)
tests_unit_test_document_LDADD = $(UNIT_LIBS)
tests_unit_test_hostlist_LDADD = $(UNIT_LIBS)
tests_unit_test_nodeset_LDADD = $(UNIT_LIBS)
# sends the allocations of a test, and of what of lib/ is linked into it, through no_memory.c
WRAP_ALLOCATIONS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_test_no_memory_SOURCES = tests/unit/test_no_memory.c tests/unit/no_memory.c \
	tests/unit/no_memory.h
tests_unit_test_no_memory_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_no_memory_LDADD = $(UNIT_LIBS)
tests_unit_test_merge_LDADD = $(UNIT_LIBS)
tests_unit_test_place_age_LDADD = $(UNIT_LIBS)
tests_unit_test_readers_LDADD = $(UNIT_LIBS)
tests_unit_test_slurm_unit_LDADD = $(UNIT_LIBS)
tests_unit_test_report_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_known_nodes
tests_unit_test_known_nodes_SOURCES = tests/unit/test_known_nodes.c host/report/known_nodes.c \
	host/report/known_nodes.h
tests_unit_test_known_nodes_LDADD = $(UNIT_LIBS) -lpthread
tests_unit_test_level_LDADD = $(UNIT_LIBS)
tests_unit_test_overlay_LDADD = $(UNIT_LIBS)
tests_unit_test_overlay_place_LDADD = $(UNIT_LIBS)
tests_unit_test_follow_LDADD = $(UNIT_LIBS)
tests_unit_test_in_control_LDADD = $(UNIT_LIBS)
tests_unit_test_text_LDADD = $(UNIT_LIBS)
tests_unit_test_clean_LDADD = $(UNIT_LIBS)
tests_unit_test_compare_LDADD = $(UNIT_LIBS)
tests_unit_test_confine_LDADD = $(UNIT_LIBS)
tests_unit_test_own_lock_LDADD = $(UNIT_LIBS)
tests_unit_test_topology_SOURCES = tests/unit/test_topology.c tests/fabric.c tests/fabric.h
tests_unit_test_topology_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_doctor tests/unit/test_fleet_config tests/unit/test_slurm_conf
tests_unit_test_fleet_config_LDADD = $(UNIT_LIBS)
tests_unit_test_doctor_LDADD = $(UNIT_LIBS)
tests_unit_test_slurm_conf_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_config tests/unit/test_effective tests/unit/test_node_policy tests/unit/test_note \
	tests/unit/test_promise tests/unit/test_quarantine tests/unit/test_request
tests_unit_test_config_LDADD = $(UNIT_LIBS)
tests_unit_test_effective_LDADD = $(UNIT_LIBS)
tests_unit_test_promise_LDADD = $(UNIT_LIBS)
tests_unit_test_quarantine_LDADD = $(UNIT_LIBS)
tests_unit_test_node_policy_LDADD = $(UNIT_LIBS)
tests_unit_test_note_LDADD = $(UNIT_LIBS)
tests_unit_test_request_SOURCES = tests/unit/test_request.c tests/fabric.c tests/fabric.h
tests_unit_test_request_LDADD = $(UNIT_LIBS)
if HAVE_CLOUD
UNIT_TESTS += tests/unit/test_block_end tests/unit/test_cloud
tests_unit_test_block_end_LDADD = libcloud.la $(UNIT_LIBS)
tests_unit_test_cloud_LDADD = libcloud.la $(UNIT_LIBS)
endif
IMPORT_HELPER = tests/unit/import_helper.c tests/unit/import_helper.h
UNIT_TESTS += tests/unit/test_import tests/unit/test_import_csv tests/unit/test_import_ib tests/unit/test_name_map
tests_unit_test_import_SOURCES = tests/unit/test_import.c $(IMPORT_HELPER)
tests_unit_test_import_LDADD = $(UNIT_LIBS)
tests_unit_test_import_csv_SOURCES = tests/unit/test_import_csv.c $(IMPORT_HELPER)
tests_unit_test_import_csv_LDADD = $(UNIT_LIBS)
tests_unit_test_import_ib_SOURCES = tests/unit/test_import_ib.c $(IMPORT_HELPER)
tests_unit_test_import_ib_LDADD = $(UNIT_LIBS)
tests_unit_test_name_map_SOURCES = tests/unit/test_name_map.c $(IMPORT_HELPER)
tests_unit_test_name_map_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_catalogue tests/unit/test_env_lint tests/unit/test_env_same tests/unit/test_no_memory_env \
	tests/unit/test_rules tests/unit/test_variables tests/unit/test_version
tests_unit_test_catalogue_LDADD = $(UNIT_LIBS)
tests_unit_test_env_lint_LDADD = $(UNIT_LIBS)
tests_unit_test_env_same_LDADD = $(UNIT_LIBS)
tests_unit_test_no_memory_env_SOURCES = tests/unit/test_no_memory_env.c tests/unit/no_memory.c \
	tests/unit/no_memory.h
tests_unit_test_no_memory_env_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_no_memory_env_LDADD = $(UNIT_LIBS)
tests_unit_test_rules_LDADD = $(UNIT_LIBS)
tests_unit_test_variables_LDADD = $(UNIT_LIBS)
tests_unit_test_version_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_gate_adapters
tests_unit_test_gate_adapters_SOURCES = tests/unit/test_gate_adapters.c gate/gate_adapters.c gate/gate_adapters.h
tests_unit_test_gate_adapters_LDADD = libcheck.la $(UNIT_LIBS)

UNIT_TESTS += tests/unit/test_gate_again
tests_unit_test_gate_again_SOURCES = tests/unit/test_gate_again.c gate/gate_again.c gate/gate_again.h
tests_unit_test_gate_again_LDADD = libcheck.la $(UNIT_LIBS)
if HAVE_SODIUM
if HAVE_MUNGE
UNIT_TESTS += tests/unit/test_seal
tests_unit_test_seal_SOURCES = tests/unit/test_seal.c host/seal/seal.c host/seal/seal.h \
	host/files.c host/files.h host/record/secrets_file.c host/record/secrets_file.h tests/unit/late_clock.h
tests_unit_test_seal_CPPFLAGS = $(HOST_CPPFLAGS) $(MUNGE_CFLAGS) $(SODIUM_CFLAGS)
tests_unit_test_seal_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=time
tests_unit_test_seal_LDADD = $(UNIT_LIBS) $(MUNGE_LIBS) $(SODIUM_LIBS)
endif
endif
UNIT_TESTS += tests/unit/test_secrets
tests_unit_test_secrets_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_process
tests_unit_test_process_LDADD = libcheck.la $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_gate_text
UNIT_TESTS += tests/unit/test_gang_license
tests_unit_test_gang_license_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_launchable
tests_unit_test_launchable_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_license_request
tests_unit_test_license_request_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_launch_error
tests_unit_test_launch_error_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_waiting
tests_unit_test_waiting_LDADD = $(UNIT_LIBS)
tests_unit_test_gate_text_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_gate_verdict
tests_unit_test_gate_verdict_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_no_memory_import
tests_unit_test_no_memory_import_SOURCES = tests/unit/test_no_memory_import.c \
	tests/unit/no_memory.c tests/unit/no_memory.h
tests_unit_test_no_memory_import_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_no_memory_import_LDADD = $(UNIT_LIBS)
if HAVE_SLURM
UNIT_TESTS += tests/unit/test_hostlist_slurm
tests_unit_test_hostlist_slurm_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
tests_unit_test_hostlist_slurm_LDADD = $(UNIT_LIBS) $(SLURM_LIBS)
UNIT_TESTS += tests/unit/test_job_submit tests/unit/test_spank
tests_unit_test_job_submit_CPPFLAGS = $(JOB_SUBMIT_CPPFLAGS)
tests_unit_test_job_submit_LDADD = libjobsubmit.la $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_job_hold_launched
tests_unit_test_job_hold_launched_CPPFLAGS = $(JOB_SUBMIT_CPPFLAGS)
tests_unit_test_job_hold_launched_LDADD = libjobsubmit.la $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_job_env
tests_unit_test_job_env_CPPFLAGS = $(JOB_SUBMIT_CPPFLAGS)
tests_unit_test_job_env_LDADD = libjobsubmit.la $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_launcher tests/unit/test_modes tests/unit/test_step_options
tests_unit_test_launcher_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
tests_unit_test_launcher_LDFLAGS = $(AM_LDFLAGS) -Wl,--gc-sections
tests_unit_test_launcher_LDADD = libspank.la $(CMOCKA_LIBS)
tests_unit_test_step_options_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
tests_unit_test_step_options_LDFLAGS = $(AM_LDFLAGS) -Wl,--gc-sections
tests_unit_test_step_options_LDADD = libspank.la $(CMOCKA_LIBS)
tests_unit_test_modes_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
tests_unit_test_modes_LDFLAGS = $(AM_LDFLAGS) -Wl,--gc-sections
tests_unit_test_modes_LDADD = libspank.la $(CMOCKA_LIBS)
tests_unit_test_spank_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
tests_unit_test_spank_LDFLAGS = $(AM_LDFLAGS) -Wl,--gc-sections
tests_unit_test_spank_LDADD = libspank.la $(CMOCKA_LIBS) $(DL_LIBS)
endif
if HAVE_CLOUD
UNIT_TESTS += tests/unit/test_source_ec2
tests_unit_test_source_ec2_SOURCES = tests/unit/test_source_ec2.c host/source/source.c host/source/source.h \
	host/source/source_ec2.c lib/cloud/ec2_refusal.c
tests_unit_test_source_ec2_LDADD = $(UNIT_LIBS)
endif
if HAVE_SLURM
if HAVE_JANSSON
UNIT_TESTS += tests/unit/test_check_report
tests_unit_test_check_report_LDADD = libhost.la $(UNIT_LIBS) $(JANSSON_LIBS)
UNIT_TESTS += tests/unit/test_asked tests/unit/test_hosts tests/unit/test_map tests/unit/test_options
tests_unit_test_asked_LDADD = libsource.la libcommand.la $(UNIT_LIBS) $(JANSSON_LIBS)
tests_unit_test_hosts_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_hosts_LDADD = libcommand.la $(UNIT_LIBS) $(JANSSON_LIBS)
tests_unit_test_map_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_map_LDADD = libcommand.la $(UNIT_LIBS) $(JANSSON_LIBS)
tests_unit_test_options_LDADD = libcommand.la $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_history_file tests/unit/test_evidence
tests_unit_test_evidence_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_evidence_LDADD = libcommand.la libcheck.la $(UNIT_LIBS) $(JANSSON_LIBS)
tests_unit_test_history_file_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_history_file_LDADD = libcommand.la libcheck.la $(UNIT_LIBS) $(JANSSON_LIBS)
endif
endif
UNIT_TESTS += tests/unit/test_occupancy tests/unit/test_place tests/unit/test_place_random tests/unit/test_sentences
tests_unit_test_occupancy_SOURCES = tests/unit/test_occupancy.c tests/unit/no_memory.c tests/unit/no_memory.h
tests_unit_test_occupancy_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_occupancy_LDADD = $(UNIT_LIBS)
tests_unit_test_place_SOURCES = tests/unit/test_place.c tests/fabric.c tests/fabric.h \
	tests/unit/no_memory.c tests/unit/no_memory.h
tests_unit_test_place_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_place_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_launch
tests_unit_test_launch_SOURCES = tests/unit/test_launch.c tests/fabric.c tests/fabric.h \
	tests/unit/no_memory.c tests/unit/no_memory.h
tests_unit_test_launch_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_launch_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_spares
tests_unit_test_spares_SOURCES = tests/unit/test_spares.c tests/fabric.c tests/fabric.h
tests_unit_test_spares_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_segments
tests_unit_test_segments_SOURCES = tests/unit/test_segments.c tests/fabric.c tests/fabric.h
tests_unit_test_segments_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_layout tests/unit/test_layout_nodes tests/unit/test_script_layout
UNIT_TESTS += tests/unit/test_gang_order tests/unit/test_leaf_pack tests/unit/test_layout_segments
tests_unit_test_leaf_pack_SOURCES = tests/unit/test_leaf_pack.c tests/fabric.c tests/fabric.h
tests_unit_test_leaf_pack_LDADD = $(UNIT_LIBS)
tests_unit_test_gang_order_SOURCES = tests/unit/test_gang_order.c tests/fabric.c tests/fabric.h
tests_unit_test_gang_order_LDADD = $(UNIT_LIBS)
tests_unit_test_layout_segments_SOURCES = tests/unit/test_layout_segments.c tests/fabric.c tests/fabric.h
tests_unit_test_layout_segments_LDADD = $(UNIT_LIBS)
tests_unit_test_script_layout_LDADD = $(UNIT_LIBS)
tests_unit_test_layout_LDADD = $(UNIT_LIBS)
tests_unit_test_layout_nodes_SOURCES = tests/unit/test_layout_nodes.c tests/fabric.c tests/fabric.h
tests_unit_test_layout_nodes_LDADD = $(UNIT_LIBS) -lm
UNIT_TESTS += tests/unit/test_choose tests/unit/test_choose_random
tests_unit_test_choose_SOURCES = tests/unit/test_choose.c tests/fabric.c tests/fabric.h \
	tests/model.c tests/model.h tests/unit/no_memory.c tests/unit/no_memory.h
tests_unit_test_choose_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_choose_LDADD = $(UNIT_LIBS)
tests_unit_test_choose_random_SOURCES = tests/unit/test_choose_random.c tests/fabric.c \
	tests/fabric.h tests/model.c tests/model.h
tests_unit_test_choose_random_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_choose_parts
tests_unit_test_choose_parts_SOURCES = tests/unit/test_choose_parts.c tests/fabric.c \
	tests/fabric.h tests/model.c tests/model.h
tests_unit_test_choose_parts_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_choose_large
tests_unit_test_choose_large_SOURCES = tests/unit/test_choose_large.c
tests_unit_test_choose_large_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_component_plans
tests_unit_test_component_plans_SOURCES = tests/unit/test_component_plans.c tests/fabric.c \
	tests/fabric.h tests/unit/no_memory.c tests/unit/no_memory.h
tests_unit_test_component_plans_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_component_plans_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_choose_components
tests_unit_test_choose_components_SOURCES = tests/unit/test_choose_components.c tests/fabric.c \
	tests/fabric.h tests/unit/no_memory.c tests/unit/no_memory.h
tests_unit_test_choose_components_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_choose_components_LDADD = $(UNIT_LIBS)
tests_unit_test_sentences_SOURCES = tests/unit/test_sentences.c tests/fabric.c tests/fabric.h
tests_unit_test_sentences_LDADD = $(UNIT_LIBS)
tests_unit_test_place_random_SOURCES = tests/unit/test_place_random.c tests/fabric.c tests/fabric.h
tests_unit_test_place_random_LDADD = $(UNIT_LIBS)
if HAVE_HWLOC
BIND_LIBS = libbind.la $(UNIT_LIBS)
if HAVE_EXPAT
UNIT_TESTS += tests/unit/test_bind
tests_unit_test_bind_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_bind_LDADD = $(BIND_LIBS) $(HWLOC_LIBS)
UNIT_TESTS += tests/unit/test_nccl_topology tests/unit/test_no_memory_bind
tests_unit_test_nccl_topology_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_nccl_topology_LDADD = $(BIND_LIBS) $(HWLOC_LIBS)
tests_unit_test_no_memory_bind_SOURCES = tests/unit/test_no_memory_bind.c tests/unit/no_memory.c \
	tests/unit/no_memory.h
tests_unit_test_no_memory_bind_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_no_memory_bind_LDFLAGS = $(AM_LDFLAGS) $(WRAP_ALLOCATIONS)
tests_unit_test_no_memory_bind_LDADD = $(BIND_LIBS) $(HWLOC_LIBS)
UNIT_TESTS += tests/unit/test_bind_child
tests_unit_test_bind_child_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_bind_child_LDADD = $(BIND_LIBS) $(HWLOC_LIBS)
if HAVE_SLURM
UNIT_TESTS += tests/unit/test_node_part
tests_unit_test_node_part_SOURCES = tests/unit/test_node_part.c $(onespine_node_la_SOURCES)
tests_unit_test_node_part_CPPFLAGS = $(onespine_node_la_CPPFLAGS)
tests_unit_test_node_part_LDADD = $(BIND_LIBS) $(HWLOC_LIBS)
endif
UNIT_TESTS += tests/unit/test_types
tests_unit_test_types_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_types_LDADD = $(BIND_LIBS) $(HWLOC_LIBS)
UNIT_TESTS += tests/unit/test_node_cache
tests_unit_test_node_cache_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_node_cache_LDADD = $(BIND_LIBS) $(HWLOC_LIBS)
endif
endif
UNIT_TESTS += tests/unit/test_own_files
tests_unit_test_own_files_SOURCES = tests/unit/test_own_files.c spank/own_files.c spank/own_files.h
tests_unit_test_own_files_LDADD = $(UNIT_LIBS) -lpthread
UNIT_TESTS += tests/unit/test_gate_barrier tests/unit/test_gate_gres tests/unit/test_gate_links \
	tests/unit/test_gate_message tests/unit/test_gate_policy tests/unit/test_gate_reduce \
	tests/unit/test_gate_suspects tests/unit/test_gate_traffic tests/unit/test_hang
tests_unit_test_hang_LDADD = $(UNIT_LIBS)
tests_unit_test_gate_gres_LDADD = $(UNIT_LIBS)
tests_unit_test_gate_suspects_LDADD = $(UNIT_LIBS)
tests_unit_test_gate_traffic_LDADD = $(UNIT_LIBS)
tests_unit_test_gate_reduce_LDADD = $(UNIT_LIBS)
tests_unit_test_gate_links_LDADD = $(UNIT_LIBS)
tests_unit_test_gate_barrier_LDADD = $(UNIT_LIBS)
tests_unit_test_gate_message_LDADD = $(UNIT_LIBS)
tests_unit_test_gate_policy_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_kernels tests/unit/test_speed tests/unit/test_speed_errors
tests_unit_test_speed_errors_LDADD = libcheck.la $(UNIT_LIBS) -lm
tests_unit_test_kernels_LDADD = libcheck.la $(UNIT_LIBS) -lm
tests_unit_test_speed_LDADD = $(UNIT_LIBS)
UNIT_TESTS += tests/unit/test_kmsg tests/unit/test_uvm tests/unit/test_runner tests/unit/test_thresholds
UNIT_TESTS += tests/unit/test_fresh tests/unit/test_history tests/unit/test_pass_store
UNIT_TESTS += tests/unit/test_result
tests_unit_test_result_LDADD = libcheck.la $(UNIT_LIBS)
tests_unit_test_history_LDADD = $(UNIT_LIBS)
tests_unit_test_fresh_LDADD = $(UNIT_LIBS)
tests_unit_test_pass_store_LDADD = libcheck.la $(UNIT_LIBS)
tests_unit_test_kmsg_LDADD = libcheck.la $(UNIT_LIBS)
tests_unit_test_uvm_LDADD = libcheck.la $(UNIT_LIBS)
tests_unit_test_runner_LDADD = libcheck.la $(UNIT_LIBS)
tests_unit_test_thresholds_LDADD = libcheck.la $(UNIT_LIBS)
# The shadow's objects with a slurmctld that is not there; bitmaps, lists and the allocator are those of Slurm's library.
if HAVE_SHADOW
UNIT_TESTS += tests/unit/test_shadow_beside tests/unit/test_shadow_count tests/unit/test_shadow_extra tests/unit/test_shadow_follow tests/unit/test_shadow_launch tests/unit/test_shadow_leave tests/unit/test_shadow_memory tests/unit/test_shadow_parts tests/unit/test_shadow_place \
	tests/unit/test_shadow_plugin tests/unit/test_shadow_one tests/unit/test_shadow_promise tests/unit/test_shadow_wishes tests/unit/test_shadow_request \
	tests/unit/test_shadow_seam tests/unit/test_shadow_state
# compiled once for all of these tests, and for benches
check_LTLIBRARIES += tests/fake/libslurmctld.la
tests_fake_libslurmctld_la_SOURCES = tests/fake/slurmctld.c tests/fake/slurmctld.h \
	tests/unit/no_memory.c tests/unit/no_memory.h tests/unit/shadow_calls.c tests/unit/shadow_calls.h
tests_fake_libslurmctld_la_CPPFLAGS = $(SHADOW_CPPFLAGS)
SLURMFULL = -L$(SLURM_PLUGINS) -lslurmfull
# no_memory.o is wanted by libonespine.la alone in some, which comes after
WRAP_SLURM = $(WRAP_ALLOCATIONS) -Wl,--undefined=__wrap_malloc -Wl,--wrap=dlsym,--wrap=clock_gettime,-rpath,$(SLURM_PLUGINS)
SHADOW_TEST_LIBS = tests/fake/libslurmctld.la libshadow.la $(UNIT_LIBS) $(SLURMFULL)
tests_unit_test_shadow_beside_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_beside_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_beside_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_count_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_count_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_count_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_extra_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_extra_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM),--wrap=extra_constraints_test,--wrap=time
tests_unit_test_shadow_extra_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_follow_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_follow_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_follow_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_parts_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_parts_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_parts_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_launch_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_launch_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_launch_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_memory_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_memory_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_memory_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_leave_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_leave_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_leave_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_place_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_place_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_place_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_plugin_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_plugin_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_plugin_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_one_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_one_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM),--wrap=time
tests_unit_test_shadow_one_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_promise_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_promise_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_promise_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_wishes_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_wishes_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_wishes_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_request_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_request_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_request_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_seam_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_seam_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_seam_LDADD = $(SHADOW_TEST_LIBS)
tests_unit_test_shadow_state_CPPFLAGS = $(SHADOW_CPPFLAGS)
tests_unit_test_shadow_state_LDFLAGS = $(AM_LDFLAGS) $(WRAP_SLURM)
tests_unit_test_shadow_state_LDADD = $(SHADOW_TEST_LIBS)
endif
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif
