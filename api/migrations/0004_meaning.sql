-- What a memory means, as vectors: the version of the encoder, then one for each passage; empty while it waits for them.
-- They are of the text that had this rev: a server of before changes the text and leaves them behind.
ALTER TABLE memories ADD COLUMN meaning bytea NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN meant_rev bigint NOT NULL DEFAULT 0;
-- The key of the machine that sent them, until this server made them itself and found the same; and whether it is to.
ALTER TABLE memories ADD COLUMN meant_by text;
ALTER TABLE memories ADD COLUMN meant_check boolean NOT NULL DEFAULT false;
-- Vectors do not get smaller by being compressed.
ALTER TABLE memories ALTER COLUMN meaning SET STORAGE EXTERNAL;
GRANT UPDATE (meaning, meant_rev, meant_by, meant_check) ON memories TO tessera_app;

-- Which rows wait, by owner and the version of what is there; which are to be checked; which were never.
CREATE INDEX memories_waiting ON memories
    (owner, (CASE WHEN meant_rev = content_rev THEN substring(meaning FROM 1 FOR 1) ELSE ''::bytea END)) WHERE state = 'live';
CREATE INDEX memories_to_check ON memories (owner) WHERE meant_check;
CREATE INDEX memories_unchecked ON memories (owner) WHERE meant_by IS NOT NULL;

-- Since when nothing is believed that was sent under a key: some of its vectors were not what their texts mean.
ALTER TABLE api_keys ADD COLUMN distrusted timestamptz;
GRANT UPDATE (distrusted) ON api_keys TO tessera_app;
