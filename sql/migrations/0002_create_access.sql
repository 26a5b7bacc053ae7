-- Access: API keys, secrets of this database's servers, used sign-in tickets.
--
-- Lock: none on existing data; creates only.
--
-- No secret of a caller is stored: keyHash is the SHA-256 of the key's random part, which has 256 bits, so that neither salt nor
-- a slow hash would add anything. A revoked key keeps its row, so that what it did can still be named.

CREATE TABLE apiKeys (
    id             text COLLATE "C" PRIMARY KEY,
    name           text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    keyHash        bytea NOT NULL UNIQUE CHECK (length(keyHash) = 32),
    scopes         text[] NOT NULL,
    quotaPerMinute integer CHECK (quotaPerMinute > 0),
    createdAt      timestamptz NOT NULL,
    createdBy      text NOT NULL,
    lastUsedAt     timestamptz,
    revokedAt      timestamptz
);

COMMENT ON COLUMN apiKeys.id IS 'The public part of a key: pw_<id>_<secret>';
COMMENT ON COLUMN apiKeys.quotaPerMinute IS 'Requests a minute at each server; null for no limit';
COMMENT ON COLUMN apiKeys.lastUsedAt IS 'Right to about a minute';

-- Random values that all servers of one database share, for example the key that signs session cookies.
CREATE TABLE serverSecrets (
    name      text COLLATE "C" PRIMARY KEY,
    value     bytea NOT NULL CHECK (length(value) >= 32),
    createdAt timestamptz NOT NULL DEFAULT now()
);

-- Sign-in tickets work once; a row leaves when its ticket would have expired anyway.
CREATE TABLE usedSignInTickets (
    nonce     text COLLATE "C" PRIMARY KEY,
    expiresAt timestamptz NOT NULL
);
