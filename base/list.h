/* base/list.h - intrusive doubly linked lists: the node lives in the element. A node on no list has
 * next == NULL; a list is a node that points at itself when empty. */
#ifndef ONCE_BASE_LIST_H
#define ONCE_BASE_LIST_H
#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev, *next;
};

/* clang-format off */
#define list_entry(node, type, member) ((type *)((char *)(node) - offsetof(type, member)))
#define LIST_EACH(it, head) \
    for (struct list *it = (head)->next; it != (head); it = it->next)
#define LIST_EACH_SAFE(it, tmp, head) \
    for (struct list *it = (head)->next, *tmp = it->next; it != (head); it = tmp, tmp = it->next)
/* clang-format on */

static inline void list_init(struct list *l)
{
    l->prev = l->next = l;
}
static inline bool list_empty(const struct list *l)
{
    return l->next == l || !l->next;
}
static inline bool list_linked(const struct list *n)
{
    return n->next != NULL;
}
static inline void list_push(struct list *l, struct list *n) /* at the end */
{
    n->prev = l->prev;
    n->next = l;
    l->prev->next = n;
    l->prev = n;
}
static inline void list_push_front(struct list *l, struct list *n)
{
    list_push(l->next, n);
}
static inline void list_remove(struct list *n) /* on no list: nothing happens */
{
    if (!n->next)
        return;
    n->prev->next = n->next;
    n->next->prev = n->prev;
    n->prev = n->next = NULL;
}
static inline struct list *list_first(const struct list *l) /* NULL when empty */
{
    return list_empty(l) ? NULL : l->next;
}
#endif
