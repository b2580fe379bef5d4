# Which tests run where. All run in the release build.

# `release`: not in the build with sanitizers.
set(TACTUS_LABEL_release
  # About figures, which are the same in every build, or about the build, the jobs and the text of the sources.
  bench_* physics_* kds_figures run_windows install_consumer install_package jobs_install jobs_usage jobs_raster jobs_render jobs_report jobs_submit jobs_job jobs_messages jobs_walk jobs_browser jobs_paraview jobs_slurm mutation_texts style_* docs_*
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
  solve_memory_2 solve_solver_3 solve_equal_4
  # Whole runs on several ranks; implicit_closed_forms and implicit_refusals run the same code there.
  implicit_equality implicit_presses implicit_benchmarks implicit_benchmarks_default implicit_pressure record_salvage
  # About the package and not about the library: python_stepping, python_faults and python_arrays load the library there.
  python_blender python_doctests python_examples python_headers python_left python_package python_reading python_schema
  # Whole runs of some minutes there; fuzz_check, check_* and scene_* run the code that doubts a scene.
  scene_doubts scene_plausible)
if(TACTUS_SANITIZE)
  list(APPEND TACTUS_LABEL_release io_disk) # there is a shorter io_disk_some
endif()

# `slow`: not in `jobs/test --quick`: more than ten seconds on a core that is busy with other things too.
set(TACTUS_LABEL_slow
  audit_cases audit_random audit_runs audit_tied bench_instructions check_pilot equality_scenes faults_one faults_ranks faults_files io_checkpoints io_disk
  io_faults io_goes_on app_launch install_package jobs_walk run_outputs run_damage run_links run_locks run_moved jobs_browser jobs_paraview io_looks io_resume io_times jobs_render jobs_job jobs_report jobs_slurm jobs_submit
  implicit_equality implicit_odd implicit_halves implicit_presses implicit_static implicit_benchmarks record_salvage kds_figures partition_cut_3 partition_cut_5 partition_pieces_5 partition_read partition_read_3 partition_read_5
  docs_digests docs_search physics_box physics_clocks physics_friction python_examples python_left python_package python_stepping
  physics_layers physics_limits physics_motion physics_restitution ranks_damage ranks_kds ranks_kill ranks_pieces
  ranks_restart ranks_scenes ranks_stress record_faults record_restart record_same scene_crushed scene_doubts scene_refusals
  scene_schema scene_plausible run_follow test_overlap_pieces_4)

# Tests on several ranks run as the program is shipped: a scene with too little to do for several ranks begins on one of
# them, and is shared out when that pays (docs/reference/ranks.md). These are about what several ranks compute or write
# together, and most of their scenes are so small that no contact or element would lie across ranks: TACTUS_TEST_DEAL=1
# shares them out from the start. It makes no difference for kinetic structures, for the implicit integrator, where
# vertices migrate at every commit, and for large scenes.
set(TACTUS_SHARED_OUT
  ranks_scenes ranks_sanitize ranks_restart ranks_restart_spread ranks_near ranks_found_in_repair ranks_free
  ranks_silent ranks_silent_free ranks_silent_alone ranks_silent_shared ranks_silent_asleep ranks_still_far
  ranks_deals ranks_deals_layers ranks_pieces ranks_kill ranks_damage ranks_full_disk ranks_stress
  record_same record_restart record_faults faults_ranks faults_files faults_ranks_kills
  audit_runs audit_cases elements_solid elements_volume io_goes_on
  run_outputs run_losses run_follow run_inert run_stepping run_api_2)

# tactus_labels(test...): gives tests their labels, and their place on ranks; to be called after the test's other properties are set.
function(tactus_labels)
  foreach(test ${ARGN})
    foreach(label release slow)
      foreach(pattern ${TACTUS_LABEL_${label}})
        string(REPLACE "*" ".*" pattern "^${pattern}$")
        if(test MATCHES ${pattern})
          set_property(TEST ${test} APPEND PROPERTY LABELS ${label})
        endif()
      endforeach()
    endforeach()
    if(test IN_LIST TACTUS_SHARED_OUT)
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT TACTUS_TEST_DEAL=1)
    endif()
  endforeach()
endfunction()
