# Programs of tests/bench, driven by run.py and allocations.py there. Those that stand on librdkafka are left
# out where it is not installed; run.py then says so.
if(NOT TARGET once_client OR NOT TARGET once_env_uv)
  return()
endif()
pkg_check_modules(RDKAFKA IMPORTED_TARGET rdkafka)

set(bench_programs)
add_library(bench_floor STATIC ${CMAKE_SOURCE_DIR}/tests/bench/floor.c)
target_link_libraries(bench_floor PUBLIC once_flags)
function(once_bench name)
  add_executable(bench_${name} ${CMAKE_SOURCE_DIR}/tests/bench/${name}.c)
  target_link_libraries(bench_${name} PRIVATE once_flags ${ARGN})
  set(bench_programs ${bench_programs} bench_${name} PARENT_SCOPE)
endfunction()

once_bench(latency bench_floor once_wire)
once_bench(commit bench_floor once_client once_env_uv)
if(RDKAFKA_FOUND)
  once_bench(rdk_produce PkgConfig::RDKAFKA)
  once_bench(rdk_consume PkgConfig::RDKAFKA)
endif()

# Counts a process's allocations by call site; loaded by LD_PRELOAD.
add_library(bench_alloc_count MODULE ${CMAKE_SOURCE_DIR}/tests/bench/alloc_count.c)
target_link_libraries(bench_alloc_count PRIVATE once_flags)
add_custom_target(bench DEPENDS ${bench_programs} bench_alloc_count)

find_program(PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(TARGET once AND RDKAFKA_FOUND AND PYTHON3 AND NOT ONCE_SANITIZE)
  add_test(NAME bench/allocations
    COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/bench/allocations.py --build ${CMAKE_BINARY_DIR})
  set_tests_properties(bench/allocations PROPERTIES TIMEOUT 300)
endif()
