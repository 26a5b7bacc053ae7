-- Access: API keys, sessions, sign-in tickets, and the audit log.
--
-- Locks: none on existing data.
--
-- No secret is stored: keyHash, secretHash and ticketHash are the SHA-256 of 256 random bits, so neither a salt nor a slow hash would add
-- security. A revoked key keeps its row, so that earlier actions can still be attributed to it.

CREATE TABLE apiKeys (
    -- The public part of a key: pw_<id>_<secret>.
    id             text COLLATE "C" PRIMARY KEY,
    name           text             NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    keyHash        bytea            NOT NULL UNIQUE CHECK (length(keyHash) = 32),
    scopes         text[]           NOT NULL,
    -- Requests per minute at each server; null for no limit.
    quotaPerMinute integer          CHECK (quotaPerMinute > 0),
    createdAt      timestamptz      NOT NULL,
    createdBy      text             NOT NULL,
    -- The only apps it may write for; null for all.
    apps           text[]           CHECK (cardinality(apps) > 0),
    -- From then on it is refused; null for never.
    expiresAt      timestamptz,
    -- The older key that this one was made for with `pushwatch keys rotate`; each is replaced once.
    replaces       text COLLATE "C" UNIQUE REFERENCES apiKeys,
    -- Accurate to about a minute.
    lastUsedAt     timestamptz,
    revokedAt      timestamptz
);

COMMENT ON TABLE apiKeys IS 'API keys, including expired and revoked ones. Never to be granted to analysts.';

CREATE TABLE sessions (
    -- Names the session in lists; opens nothing.
    sessionId      text COLLATE "C" PRIMARY KEY,
    -- Of the cookie: 256 random bits.
    secretHash     bytea            NOT NULL UNIQUE CHECK (length(secretHash) = 32),
    -- The key it was opened with, whose rights it has: of apiKeys, or 'bootstrap'.
    keyId          text COLLATE "C" NOT NULL,
    -- Ties a session of the bootstrap key to that very key; keyed with the cookie, so it says nothing about the key.
    bootstrapProof bytea,
    -- The name that was given at sign-in.
    person         text             NOT NULL CHECK (length(person) BETWEEN 1 AND 100),
    createdAt      timestamptz      NOT NULL,
    -- Accurate to about a minute.
    lastUsedAt     timestamptz      NOT NULL,
    endedAt        timestamptz,
    endedBy        text
);

COMMENT ON TABLE sessions IS
    'People signed in to the on-call site, in the last 30 days. The cookie of a session is not here, only its hash. Never to be granted to analysts.';

CREATE TABLE signInTickets (
    -- Of the ticket in the link: 256 random bits.
    ticketHash bytea            PRIMARY KEY CHECK (length(ticketHash) = 32),
    keyId      text COLLATE "C" NOT NULL,
    person     text             NOT NULL CHECK (length(person) BETWEEN 1 AND 100),
    -- The row is deleted when the ticket is used, or some time after this moment.
    expiresAt  timestamptz      NOT NULL
);

COMMENT ON TABLE signInTickets IS 'Links that sign somebody in once and were not used yet. Never to be granted to analysts.';

-- Append only: a trigger refuses every other statement, also the owner's. Nothing deletes entries.
CREATE TABLE auditEntries (
    entryId    bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL,
    actor      text        NOT NULL,
    callerKind text        NOT NULL CHECK (callerKind IN ('key', 'session', 'proxy', 'user', 'command')),
    keyId      text        CHECK (callerKind NOT IN ('key', 'session') OR keyId IS NOT NULL),
    action     text        NOT NULL,
    subject    text        NOT NULL,
    detail     text        NOT NULL,
    before     jsonb,
    after      jsonb
);

CREATE INDEX auditEntries_at ON auditEntries USING brin (at);

CREATE FUNCTION refuseAuditChange() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'auditEntries is append-only: % is not allowed', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER auditEntries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON auditEntries
    FOR EACH STATEMENT EXECUTE FUNCTION refuseAuditChange();

COMMENT ON TABLE auditEntries IS 'Actions of persons and API keys that change alerts, notifications, sends or access, in order.';
COMMENT ON COLUMN auditEntries.entryId IS 'Number of the entry, in order.';
COMMENT ON COLUMN auditEntries.at IS 'When the action was done.';
COMMENT ON COLUMN auditEntries.actor IS 'Name of the person or of the API key.';
COMMENT ON COLUMN auditEntries.callerKind IS
    'How the actor was known. key: by an API key; session: by the session of a browser; proxy: by a proxy in front; user: as an app''s user; command: on the command line.';
COMMENT ON COLUMN auditEntries.keyId IS
    'Public part of the API key that was used, or that the session was opened with; NULL for the others.';
COMMENT ON COLUMN auditEntries.action IS 'What was done, such as ''alerts.acknowledge'', ''silences.add'' or ''throttles.add''.';
COMMENT ON COLUMN auditEntries.subject IS 'Object of the action: the id of an alert, a provider, the name of an API key.';
COMMENT ON COLUMN auditEntries.detail IS 'Free text: until when, how much, why. Never a secret.';
COMMENT ON COLUMN auditEntries.before IS 'The object as it was; NULL if there was none. Never a secret.';
COMMENT ON COLUMN auditEntries.after IS 'The object as it became; NULL if there is none any more. Never a secret.';
