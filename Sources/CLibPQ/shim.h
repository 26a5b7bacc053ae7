#pragma once
#include <libpq-fe.h>

// PG_DIAG_* are character literals, which Swift does not import.
static inline int pushwatch_diag_sqlstate(void) { return PG_DIAG_SQLSTATE; }
static inline int pushwatch_diag_source_function(void) { return PG_DIAG_SOURCE_FUNCTION; }
static inline int pushwatch_diag_message_primary(void) { return PG_DIAG_MESSAGE_PRIMARY; }
static inline int pushwatch_diag_message_detail(void) { return PG_DIAG_MESSAGE_DETAIL; }
static inline int pushwatch_diag_constraint_name(void) { return PG_DIAG_CONSTRAINT_NAME; }
