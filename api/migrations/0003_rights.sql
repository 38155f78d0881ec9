-- Who wrote a text that its owner did not write, and the owner's own word on how far a memory may be believed.
ALTER TABLE memories ADD COLUMN edited_by text;
ALTER TABLE memories ADD COLUMN vouched text CHECK (vouched IN ('user', 'model', 'foreign'));
GRANT UPDATE (edited_by, vouched) ON memories TO tessera_app;
