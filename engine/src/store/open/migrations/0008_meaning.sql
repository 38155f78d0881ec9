-- What a memory means, as vectors; empty while it waits for them, and for a deleted one.
ALTER TABLE memories ADD COLUMN meaning BLOB NOT NULL DEFAULT x'';
-- A program of before this, still running, changes texts and knows nothing of vectors: none may outlive its text.
CREATE TRIGGER memories_meant AFTER UPDATE OF content, deleted ON memories
    WHEN NEW.meaning <> x'' AND NEW.meaning = OLD.meaning AND (NEW.content <> OLD.content OR NEW.deleted IS NOT NULL)
BEGIN
    UPDATE memories SET meaning = x'' WHERE handle = NEW.handle;
END;
CREATE INDEX memories_waiting ON memories (rev) WHERE meaning = x'' AND deleted IS NULL;
