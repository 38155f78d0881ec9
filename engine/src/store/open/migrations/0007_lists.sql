-- Every new memory paid for this index, and only lists read it, which count all rows anyway.
DROP INDEX memories_created;
