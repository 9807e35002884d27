/* tests/base/support_streams.h - the shared suite's cases about streams, for support_world.c. */
#ifndef ONCE_TESTS_BASE_SUPPORT_STREAMS_H
#define ONCE_TESTS_BASE_SUPPORT_STREAMS_H
#include "support_world.h"

struct pair {
    struct env_stream listener, client, server;
    bool accepted;
};

/* A listener and a connection to it, accepted. */
void pair_open(struct world *w, struct pair *p);

void addresses_name_both_ends(void **state);
void all_bytes_arrive_in_order_through_small_reads(void **state);
void both_directions_echo(void **state);
void a_peer_that_closes_gives_recv_zero_after_its_last_byte(void **state);
void shut_first_cancels_what_is_in_flight(void **state);
void a_send_to_a_peer_that_is_gone_fails_in_the_end(void **state);
void connect_where_nobody_listens_is_refused(void **state);
void connect_is_canceled_by_shut(void **state);
void two_listeners_on_one_address_are_refused(void **state);
#endif
