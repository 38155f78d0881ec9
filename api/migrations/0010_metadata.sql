-- What a client keeps beside a text and is given back with it: a JSON object, kept as it was written.
ALTER TABLE memories ADD COLUMN metadata text;
GRANT UPDATE (metadata) ON memories TO tessera_app;
