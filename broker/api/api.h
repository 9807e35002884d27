/* broker/api/api.h - one handler per API of the broker itself; install.c registers them all.
 *
 * A handler (broker.h: api_handler) finds rq->in at the body, answers now or later through the
 * reply functions, and returns 0; negative closes the connection. Those of groups (8, 9, 10 to
 * 14) are thin shells over broker/group/. */
#ifndef ONCE_BROKER_API_API_H
#define ONCE_BROKER_API_API_H
#include "broker/broker.h"

int api_produce(struct request *rq);                 /* 0 */
int api_fetch(struct request *rq);                   /* 1 */
int api_list_offsets(struct request *rq);            /* 2 */
int api_metadata(struct request *rq);                /* 3 */
int api_offset_commit(struct request *rq);           /* 8 */
int api_offset_fetch(struct request *rq);            /* 9 */
int api_find_coordinator(struct request *rq);        /* 10 */
int api_join_group(struct request *rq);              /* 11 */
int api_heartbeat(struct request *rq);               /* 12 */
int api_leave_group(struct request *rq);             /* 13 */
int api_sync_group(struct request *rq);              /* 14 */
int api_api_versions(struct request *rq);            /* 18 */
int api_create_topics(struct request *rq);           /* 19 */
int api_delete_topics(struct request *rq);           /* 20 */
int api_offset_for_leader_epoch(struct request *rq); /* 23 */
int api_describe_configs(struct request *rq);        /* 32 */
#endif
