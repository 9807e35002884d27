# The libraries and the edges between them: base <- broker <- txn <- runtime, base <- udf <- runtime.

once_library(once_base DIR base EXCLUDE env_uv*.c env_sim.c sim_*.c
  LINK PkgConfig::ZSTD PkgConfig::LZ4 PkgConfig::ZLIB ${SNAPPY_LIB})
once_library(once_wire DIR base/wire EDGES once_base)
once_library(once_env_uv DIR base SOURCES env_uv*.c EDGES once_base LINK PkgConfig::UV Threads::Threads)
once_library(once_env_sim DIR base SOURCES env_sim.c sim_*.c EDGES once_base)

once_library(once_log DIR broker/log EDGES once_wire)
once_library(once_group DIR broker/group EDGES once_wire)
once_library(once_broker DIR broker EDGES once_log once_group)
once_library(once_broker_api DIR broker/api EDGES once_broker)

once_library(once_session DIR txn SOURCES session.c EDGES once_wire)
once_library(once_txn DIR txn EXCLUDE session.c EDGES once_broker once_broker_api)
once_library(once_txn_api DIR txn/api EDGES once_txn)

# The job's side of Lua is Lua: embedded as strings.
file(GLOB udf_lua CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/udf/lua/*.lua)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/gen/udf_lua.inc
  COMMAND lua5.4 ${CMAKE_SOURCE_DIR}/cmake/embed.lua ${CMAKE_BINARY_DIR}/gen/udf_lua.inc ${udf_lua}
  DEPENDS ${udf_lua} ${CMAKE_SOURCE_DIR}/cmake/embed.lua)
add_custom_target(once_udf_lua DEPENDS ${CMAKE_BINARY_DIR}/gen/udf_lua.inc)
once_library(once_udf DIR udf EDGES once_base LINK PkgConfig::LUA)
if(TARGET once_udf)
  add_dependencies(once_udf once_udf_lua)
  target_include_directories(once_udf PRIVATE ${CMAKE_BINARY_DIR}/gen)
endif()

once_library(once_client DIR runtime/client EDGES once_wire once_session)
once_library(once_state DIR runtime/state EDGES once_base once_udf LINK ${LMDB_LIB})
once_library(once_worker DIR runtime/worker EDGES once_client once_state once_udf)
once_library(once_sim DIR runtime/sim EDGES once_env_sim once_txn_api once_worker)
set(cli_sim)
if(EXISTS ${CMAKE_SOURCE_DIR}/runtime/cli/cmd_sim.c)
  set(cli_sim once_sim)
endif()
once_library(once_cli DIR runtime/cli EXCLUDE main.c
  EDGES once_env_uv once_txn_api once_worker ${cli_sim} LINK PkgConfig::UV ${LMDB_LIB})

if(EXISTS ${CMAKE_SOURCE_DIR}/runtime/cli/main.c)
  add_executable(once runtime/cli/main.c)
  target_link_libraries(once PRIVATE once_cli once_flags)
endif()
