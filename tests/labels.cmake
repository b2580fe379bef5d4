# Which tests run where. All run in the release build.

# `release`: not in the build with sanitizers.
set(TACTUS_LABEL_release
  # About figures, which are the same in every build, or about the build, the jobs and the text of the sources.
  bench_* papers_* physics_* kds_figures run_windows install_consumer install_package jobs_install jobs_usage jobs_raster jobs_render jobs_report jobs_submit jobs_job jobs_messages jobs_walk jobs_browser jobs_paraview jobs_slurm mutation_texts test_math_coefficients style_* docs_*
  # Calls that fail on purpose: the library that makes them fail finds leaks itself.
  faults_*
  # Five ranks and four go through the code that three go through.
  partition_pieces_5 partition_read_5 partition_cut_5 test_overlap_pieces_4
  # What they do on three ranks partition_pieces_3 does there too.
  partition_cut_3 partition_read_3 test_overlap_pieces_3
  # Dear there, and they run code that others run too: of 20,400 branches of src/ that the tests take (tests/system/matrix/covered)
  # these alone take some 90.
  events_walls events_spring scene_crushed audit_runs audit_random record_faults record_restart record_memory record_same
  record_path io_goes_on io_ranks io_child ranks_restart
  # Their other tests, on one rank and on three, run the same code.
  solve_memory_2 solve_solver_3 solve_equal_7
  # Scenes with hard parameters, five minutes there: implicit_closed_forms, implicit_refusals and implicit_static run the same code.
  implicit_odd
  # Pilots of a time that is fixed: forecast_pilot_run runs them there.
  check_pilot
  # Whole runs on several ranks; implicit_closed_forms and implicit_refusals run the same code there.
  implicit_equality implicit_presses implicit_benchmarks implicit_benchmarks_default implicit_pressure record_salvage
  # About the package and not about the library: python_stepping, python_faults and python_arrays load the library there.
  python_blender python_doctests python_examples python_headers python_left python_package python_reading python_schema python_wheel
  # Whole runs of some minutes there; fuzz_check, check_* and scene_* run the code that doubts a scene.
  scene_doubts scene_plausible)
if(TACTUS_SANITIZE)
  list(APPEND TACTUS_LABEL_release io_disk) # there is a shorter io_disk_some
endif()

# `quick`: in `jobs/test --quick`: of every room of src/ what takes about a second of one core, the style of the sources, one scene
# by every way of discovery and one of the implicit integrator on several ranks, and a run that is stopped and goes on.
set(TACTUS_LABEL_quick
  style_* mutation_texts mutation_unit_texts
  test_signals test_math test_math_coefficients test_accum
  solve_matrix solve_matrix_3 solve_degenerate solve_solver
  test_distance test_gradients test_sweep test_tree
  mesh_generators mesh_topology mesh_formats mesh_round_trip
  scene_values scene_times scene_resume scene_docs scene_rest scene_faults
  partition_pieces partition_pieces_3 partition_cut partition_map
  state_order
  test_elastic test_loads test_damping test_plastic test_elements test_solid
  test_evaluate_four test_barrier test_model test_stretch test_limit_elements
  broadphase_candidates broadphase_patches broadphase_repair broadphase_repair_2 broadphase_remote_2
  io_layout io_docs inspect_formats
  test_overlap test_overlap_pieces test_predicates
  test_ccd_limits audit_exempt
  kds_queue kds_sound_tie kds_restart
  events_book events_collision events_loads events_order events_slack events_windows events_schedule_2 events_restore events_no_memory
  test_project implicit_equality test_operator
  run_api run_api_2 run_progress
  forecast_pilot check_summary
  app_options
  equality_first ranks_restart_spread)

# The longest ones, the longest of all first: ctest starts them in this order and before all others, so that no core waits
# at the end for one of them that began last.
set(TACTUS_LONG
  equality_rigid ranks_scenes equality_scenes ranks_scenes_shipped implicit_odd impact_equality io_checkpoints
  events_static_friction implicit_closed_forms run_follow solve_degenerate_3 equality_positions run_control partition_pieces_3
  jobs_slurm record_same record_restart ranks_restart record_faults ranks_kds
  implicit_halves faults_one faults_ranks audit_runs check_pilot physics_box kds_figures implicit_benchmarks
  docs_digests docs_search implicit_equality_limits python_package python_examples io_goes_on install_package jobs_walk run_outputs
  ranks_stress ranks_kill ranks_pieces io_resume implicit_equality python_left ranks_damage faults_kills jobs_submit jobs_job
  jobs_report jobs_render scene_schema scene_refusals scene_crushed scene_doubts scene_plausible bench_instructions faults_files
  audit_cases audit_random audit_tied io_looks equality_random io_faults io_disk io_times python_faults
  python_stepping implicit_presses implicit_static record_salvage partition_cut_3 partition_cut_5 partition_pieces_5
  partition_read partition_read_3 partition_read_5 physics_clocks physics_friction physics_layers physics_limits physics_motion
  physics_restitution run_damage run_links run_locks run_moved run_follow app_launch test_overlap_pieces_4
  events_rolling impact_bodies impact_closed impact_refusals implicit_nearly_rigid)

# Tests on several ranks run as the program is shipped: a scene with too little to do for several ranks begins on one of
# them, and is shared out when that pays (docs/reference/ranks.md). These are about what several ranks compute or write
# together, and most of their scenes are so small that no contact or element would lie across ranks: TACTUS_TEST_DEAL=1
# shares them out from the start. It makes no difference for kinetic structures, for the implicit integrator, where
# vertices migrate at every commit, and for large scenes.
set(TACTUS_SHARED_OUT
  ranks_scenes ranks_scenes_shipped ranks_sanitize ranks_restart ranks_restart_spread ranks_near ranks_found_in_repair ranks_free
  ranks_silent ranks_silent_free ranks_silent_alone ranks_silent_shared ranks_silent_asleep ranks_immovable_far
  ranks_deals ranks_deals_layers ranks_pieces ranks_kill ranks_damage ranks_full_disk ranks_stress
  record_same record_restart record_faults faults_ranks faults_files faults_ranks_kills
  audit_runs audit_cases elements_solid elements_volume io_goes_on
  run_outputs run_losses run_follow run_inert run_stepping run_api_2 events_static_friction)

# What the tests labelled `quick` need: their programs, and those that their scripts are given.
add_custom_target(quick)
add_dependencies(quick tactus-program)
list(LENGTH TACTUS_LONG TACTUS_LONG_COUNT)

# tactus_labels(test...): gives tests their labels, their turn, and their place on ranks; to be called after the test's other properties
# are set.
function(tactus_labels)
  foreach(test ${ARGN})
    foreach(label release quick)
      foreach(pattern ${TACTUS_LABEL_${label}})
        string(REPLACE "*" ".*" pattern "^${pattern}$")
        if(test MATCHES ${pattern})
          set_property(TEST ${test} APPEND PROPERTY LABELS ${label})
          string(REGEX REPLACE "_[0-9]+$" "" program ${test}) # on several ranks
          if(label STREQUAL quick AND TARGET ${program})
            add_dependencies(quick ${program})
          endif()
        endif()
      endforeach()
    endforeach()
    list(FIND TACTUS_LONG ${test} turn)
    if(turn GREATER_EQUAL 0)
      math(EXPR cost "${TACTUS_LONG_COUNT} - ${turn}")
      set_property(TEST ${test} PROPERTY COST ${cost})
    endif()
    if(test IN_LIST TACTUS_SHARED_OUT)
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT TACTUS_TEST_DEAL=1)
    endif()
  endforeach()
endfunction()
