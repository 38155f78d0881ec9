-- The file that a memory is, if it is one: /memories/user/preferences.md.
ALTER TABLE memories ADD COLUMN file text;
GRANT UPDATE (file) ON memories TO tessera_app;
