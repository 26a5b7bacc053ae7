-- Which keys stored tokens are sealed with. The keys themselves are not here.
--
-- Lock: none on existing data; creates only.

CREATE TABLE tokenKeys (
    keyId       text COLLATE "C" PRIMARY KEY,
    -- Something sealed with the key that is no token: a server whose key does not open it has another key under this name.
    probe       text NOT NULL,
    firstUsedAt timestamptz NOT NULL
);

COMMENT ON TABLE tokenKeys IS 'Names of the keys that tokens are sealed with, each with a proof of which key it is.';

-- Columns whose tokens from before sealing have been sealed.
CREATE TABLE tokenSealing (
    columnName text PRIMARY KEY,
    sealedAt   timestamptz NOT NULL
);
