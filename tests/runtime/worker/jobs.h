/* tests/runtime/worker/jobs.h - jobs that several tests run. */
#ifndef ONCE_TESTS_RUNTIME_WORKER_JOBS_H
#define ONCE_TESTS_RUNTIME_WORKER_JOBS_H

#define HEAD "local once = require 'once'\n"
/* Counts keys: "in" -> "out". */
#define COUNT_JOB                                                                                  \
    HEAD "return once.job { name = 'count', from = 'in', to = 'out', stores = { counts = {} },\n"  \
         "  process = function(ctx, r)\n"                                                          \
         "    local n = (ctx.counts:get(r.key) or 0) + 1\n"                                        \
         "    ctx.counts:put(r.key, n)\n"                                                          \
         "    ctx:emit('out', { key = r.key, value = n })\n"                                       \
         "  end }\n"
/* Counts words: "lines" -> "#words" -> "out". */
#define WORDS_JOB                                                                                  \
    HEAD "local job = once.job { name = 'words' }\n"                                               \
         "job:node { name = 'split', from = 'lines', to = '#words', process = function(ctx, r)\n"  \
         "  for w in r.value:gmatch '%a+' do ctx:emit('#words', { key = w }) end\n"                \
         "end }\n"                                                                                 \
         "job:node { name = 'count', from = '#words', to = 'out', stores = { counts = {} },\n"     \
         "  process = function(ctx, r)\n"                                                          \
         "    local n = (ctx.counts:get(r.key) or 0) + 1\n"                                        \
         "    ctx.counts:put(r.key, n)\n"                                                          \
         "    ctx:emit('out', { key = r.key, value = n })\n"                                       \
         "  end }\n"                                                                               \
         "return job\n"
#endif
