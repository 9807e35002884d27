/* broker/group/group.h - one classic consumer group as a state machine, without I/O.
 *
 * Happy path: members JOIN and are parked; when all are there (or time is up) the join completes,
 * each is told the new generation, the leader all members; the leader's SYNC brings the assignment,
 * which is SAVEd and then handed to every member whose SYNC is parked; HEARTBEATs keep members
 * alive.
 *
 * Calling: group_step with an event; do the effects in order; while out->more, group_step with
 * GROUP_MORE; after a GROUP_SAVE group_step with GROUP_SAVED before anything else. TICK at
 * group_due(). What effects point to lives until the next event other than MORE and SAVED.
 *
 * Requests that may wait carry a token, given back in exactly one reply effect. If nobody waits for
 * it any more, the caller drops that reply: the group takes the member for one whose answer got
 * lost, and the session timeout finds out.
 *
 * Invariants: the members of PREPARING and COMPLETING groups alone are parked; a leader is a
 * member; an instance id names a member that carries it; EMPTY means no members. */
#ifndef ONCE_BROKER_GROUP_GROUP_H
#define ONCE_BROKER_GROUP_GROUP_H
#include "base/map.h"
#include "base/wire/kafka_error.h"

enum group_state { GROUP_EMPTY, GROUP_PREPARING, GROUP_COMPLETING, GROUP_STABLE };

struct group_options {
    int32_t session_min_ms, session_max_ms; /* 6 s, 30 min when 0 */
    int32_t initial_delay_ms; /* from EMPTY, a join waits this long for others; 0: not */
    int32_t members_max;      /* no limit when 0 */
};

struct group_protocol {
    struct slice name, metadata;
};
struct group_assignment {
    struct slice member, assignment;
};

struct group_member {
    struct slice id, instance; /* owned, as all slices here; instance null: a dynamic member */
    struct slice client_id, client_host;
    int32_t session_ms, rebalance_ms;
    struct group_protocol *protocols;
    int n_protocols;
    struct slice assignment;         /* never null */
    uint64_t due;                    /* ns: expires then; UINT64_MAX while parked */
    uint64_t join_token, sync_token; /* not yet answered; 0: none */
    enum kafka_error join_error, sync_error;
    bool join_ready, sync_ready; /* the answer goes out with this step */
    bool is_new;                 /* its first join is parked: due is fixed */
    bool synced;                 /* in this generation */
    bool skip;                   /* its join came with version 9: SkipAssignment can be told */
    bool
        /* a static member came back under a new id; answered from the current generation */
        replaced;
    struct group_member *next_gone;
};

struct group {
    struct slice id;
    const struct group_options *options;
    enum group_state state;
    int32_t generation;
    struct slice protocol_type, protocol; /* owned; null: none */
    struct group_member *leader;
    struct map members;   /* id -> member */
    struct map instances; /* instance id -> member */
    struct map pending;   /* ids given out by MEMBER_ID_REQUIRED -> struct group_pending */
    int64_t state_ms;     /* wall clock: since when the state is what it is */
    bool initial;         /* PREPARING from EMPTY, waiting for others */
    bool initial_more;    /* somebody joined in this wait */
    uint64_t rebalance_due, initial_left, sync_due; /* ns */
    int saving; /* what SAVED is awaited for: enum of group_impl.h */
    struct group_member *save_for;
    struct group_member *gone; /* removed, kept for the effects that name them */
    struct slice old_id;       /* of a static member replaced in this step */
};

enum group_event_kind {
    GROUP_JOIN,
    GROUP_SYNC,
    GROUP_HEARTBEAT, /* answered in out->error, like the next two */
    GROUP_LEAVE,
    GROUP_COMMIT,  /* may this member commit? */
    GROUP_TICK,    /* something is due: one matter a step, ask group_due() again */
    GROUP_SAVED,   /* the SAVE was staged (error NONE) or could not be */
    GROUP_STARTED, /* after a restart: sessions begin anew */
    GROUP_MORE
};
/* Slices are borrowed for the step. */
struct group_event {
    enum group_event_kind kind;
    uint64_t token;                /* JOIN, SYNC: not 0 */
    struct slice member, instance; /* "" and null: not given */
    int32_t generation;
    int64_t wall_ms; /* for records */
    /* JOIN */
    bool id_required, can_skip; /* version 4 and up, 9 and up */
    struct slice fresh_id;      /* used if member is "" */
    struct slice client_id, client_host;
    int32_t session_ms, rebalance_ms;
    const struct group_protocol *protocols;
    int n_protocols;
    struct slice protocol_type, protocol; /* JOIN: type; SYNC: null if not given */
    /* SYNC */
    const struct group_assignment *assignments;
    int n_assignments;
    bool transactional;     /* COMMIT */
    enum kafka_error error; /* SAVED: what a member is told when it failed */
};

enum group_effect_kind { GROUP_REPLY_JOIN, GROUP_REPLY_SYNC, GROUP_SAVE };
struct group_effect {
    enum group_effect_kind kind;
    uint64_t token;
    enum kafka_error error;
    struct slice member;                  /* JOIN: the id it has, or should use */
    int32_t generation;                   /* JOIN; -1 on error */
    struct slice protocol_type, protocol; /* null: none */
    struct slice leader;                  /* JOIN */
    bool skip;                            /* JOIN: SkipAssignment */
    bool members;              /* JOIN: list group's members with group_member_metadata */
    const struct group *group; /* JOIN without error */
    struct slice assignment;   /* SYNC */
};
enum { GROUP_OUT_MAX = 16 };
struct group_out {
    enum kafka_error error; /* HEARTBEAT, LEAVE, COMMIT */
    bool more;
    int n;
    struct group_effect v[GROUP_OUT_MAX];
};

/* id is copied; options are borrowed. 0 or -ERR_NOMEM. */
int group_init(struct group *g, struct slice id, const struct group_options *options);
void group_deinit(struct group *g);
void group_step(struct group *g, const struct group_event *ev, uint64_t now, struct group_out *out);
/* When to send GROUP_TICK; UINT64_MAX is never. */
uint64_t group_due(const struct group *g);
/* What the member said about itself under this protocol; empty if it does not list it. */
struct slice group_member_metadata(const struct group_member *m, struct slice protocol);

/* Reloading: load, then each member, then load_end; -ERR_NOMEM, or -ERR_INVALID (a member twice).
 * Before GROUP_STARTED no member expires. */
int group_load(struct group *g, int32_t generation, struct slice protocol_type,
               struct slice protocol, int64_t state_ms);
int group_load_member(struct group *g, const struct group_event *join, struct slice assignment);
void group_load_end(struct group *g, struct slice leader);
#endif
