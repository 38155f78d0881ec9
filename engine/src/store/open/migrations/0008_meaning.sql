-- What a memory means, as vectors; empty while it waits for them, and for a deleted one.
ALTER TABLE memories ADD COLUMN meaning BLOB NOT NULL DEFAULT x'';
CREATE INDEX memories_waiting ON memories (rev) WHERE meaning = x'' AND deleted IS NULL;
