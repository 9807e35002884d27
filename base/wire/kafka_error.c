/* base/wire/kafka_error.c - names of the protocol's error codes. */
#include "base/wire/kafka_error.h"

const char *kafka_error_name(int code)
{
    switch (code) {
#define KAFKA_ERROR_NAME(name, number, retriable)                                                  \
    case number: return #name;
        KAFKA_ERROR_MAP(KAFKA_ERROR_NAME)
#undef KAFKA_ERROR_NAME
    default: return "UNKNOWN";
    }
}

bool kafka_error_retriable(int code)
{
    switch (code) {
#define KAFKA_ERROR_RETRY(name, number, retriable)                                                 \
    case number: return retriable;
        KAFKA_ERROR_MAP(KAFKA_ERROR_RETRY)
#undef KAFKA_ERROR_RETRY
    default: return false;
    }
}
