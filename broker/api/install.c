/* broker/api/install.c - which APIs a broker without extensions serves, and in which versions.
 *
 * The low ends are what foreign clients need to see in range (Produce 0 to 2 is advertised for
 * the sake of librdkafka's feature checks and answered by closing the connection). */
#include "broker/api/api.h"

void broker_api_install(struct broker *b)
{
    broker_api(b, 0, 0, 11, api_produce);
    broker_api(b, 1, 4, 12, api_fetch);
    broker_api(b, 2, 1, 7, api_list_offsets);
    broker_api(b, 3, 0, 12, api_metadata);
    broker_api(b, 8, 2, 9, api_offset_commit);
    broker_api(b, 9, 1, 9, api_offset_fetch);
    broker_api(b, 10, 0, 4, api_find_coordinator);
    broker_api(b, 11, 0, 9, api_join_group);
    broker_api(b, 12, 0, 4, api_heartbeat);
    broker_api(b, 13, 0, 5, api_leave_group);
    broker_api(b, 14, 0, 5, api_sync_group);
    broker_api(b, 18, 0, 4, api_api_versions);
    broker_api(b, 19, 2, 7, api_create_topics);
    broker_api(b, 20, 1, 6, api_delete_topics);
    broker_api(b, 23, 2, 4, api_offset_for_leader_epoch);
    broker_api(b, 32, 0, 4, api_describe_configs);
}
