-- Of all rows that are live, the index of those that wait for vectors knew the owner alone. Where the planner knows little of
-- a table, as while it grows from nothing, it took that index to find a row by its id, and read all rows of the owner for
-- each. A look-up by id says nothing of `meant_check`, so it cannot take this one.
DROP INDEX memories_waiting;
CREATE INDEX memories_waiting ON memories
    (owner, (CASE WHEN meant_rev = content_rev THEN substring(meaning FROM 1 FOR 1) ELSE ''::bytea END))
    WHERE state = 'live' AND NOT meant_check;
