-- Every new memory paid for this index, and only lists read it, which count all rows anyway.
DROP INDEX memories_created;
-- A brief also shows what was replaced by something that is over or forgotten, so its index must hold that too.
DROP INDEX memories_brief;
CREATE INDEX memories_brief ON memories (scope, importance)
    WHERE (standing = 1 OR category = 'decisions') AND deleted IS NULL;
