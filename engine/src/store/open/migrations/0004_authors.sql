-- After this, `give_back.rs` gives back what the rule of lifetimes took, or would take.
--
-- Who wrote a text that its owner did not write, and the owner's own word on how far a memory may be believed.
ALTER TABLE memories ADD COLUMN edited_by TEXT;  -- a user's name on the team server
ALTER TABLE memories ADD COLUMN vouched TEXT;    -- user, model or foreign
-- What the words cost that say whose a memory is, where they stand apart from its lines.
ALTER TABLE memories ADD COLUMN attribution_tokens INTEGER NOT NULL DEFAULT 0;
