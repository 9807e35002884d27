/* txn/api/install.c - a coordinator with its APIs in a broker's table. */
#include "txn/api/api.h"

int txn_open(struct txn_coordinator **c, struct broker *b)
{
    int rc = coordinator_open(c, b);
    if (rc)
        return rc;
    /* Version 2 of transactions would add EndTxn 5 and TxnOffsetCommit 5 (and Produce 12), all or
     * none. */
    broker_api(b, 22, 0, 5, api_init_producer_id);
    broker_api(b, 24, 0, 3, api_add_partitions_to_txn);
    broker_api(b, 25, 0, 3, api_add_offsets_to_txn);
    broker_api(b, 26, 0, 4, api_end_txn);
    broker_api(b, 28, 0, 4, api_txn_offset_commit);
    return 0;
}
