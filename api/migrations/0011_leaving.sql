-- A write holds its user's row: whoever removes the user waits for writes in progress, and a later write fails instead of
-- leaving rows of a user who does not exist. Citus has no such constraint between tables that it spreads afterwards.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        ALTER TABLE applied_ops ADD CONSTRAINT applied_ops_user FOREIGN KEY (user_id) REFERENCES users NOT VALID;
    END IF;
END $$;
