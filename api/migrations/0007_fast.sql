-- What makes the server fast: who asks, in one statement for many; and indexes that are not built again.

-- Whose keys are, and where the feeds of their users stand, for all requests that wait for it: one statement. Which rows
-- that is, two settings say, which hold within it and for the role that connects alone. A key that is unknown, revoked
-- or over has no user, and takes as long.
CREATE POLICY asked ON api_keys FOR SELECT TO CURRENT_USER
    USING (key_id = ANY (string_to_array(current_setting('app.asked_keys', true), ',')));
CREATE POLICY asked ON user_seq FOR SELECT TO CURRENT_USER
    USING (user_id = ANY (string_to_array(current_setting('app.asked_users', true), ',')));
CREATE POLICY asked ON marks FOR SELECT TO CURRENT_USER
    USING (user_id = ANY (string_to_array(current_setting('app.asked_users', true), ',')));
CREATE FUNCTION asked(presented text[])
    RETURNS TABLE (key_id text, key_user text, key_hash bytea, key_scopes text[], epoch bigint, head bigint, stamp bigint)
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    those text;
BEGIN
    PERFORM set_config('app.asked_keys', array_to_string(presented, ','), true);
    SELECT string_agg(k.user_id, ',') INTO those FROM api_keys k WHERE k.key_id = ANY (presented);
    PERFORM set_config('app.asked_users', coalesce(those, ''), true);
    RETURN QUERY SELECT one, k.user_id, k.hash, k.scopes, meta.epoch, s.seq, m.stamp
        FROM server_meta meta CROSS JOIN unnest(presented) one
            LEFT JOIN api_keys k ON k.key_id = one AND k.revoked IS NULL AND (k.expires IS NULL OR k.expires > now())
            LEFT JOIN user_seq s ON s.user_id = k.user_id
            LEFT JOIN marks m ON m.user_id = s.user_id AND m.seq = s.seq;
    PERFORM set_config('app.asked_keys', '', true), set_config('app.asked_users', '', true);
END $$;
REVOKE ALL ON FUNCTION asked FROM PUBLIC;

-- The index of a user as a server built it: whoever is asked next takes it from here and reads what changed since. It is a cache.
CREATE TABLE kept_indexes (
    user_id    text PRIMARY KEY,
    form       int NOT NULL,            -- of the program that made it
    by_meaning boolean NOT NULL,
    epoch      bigint NOT NULL,
    seq        bigint NOT NULL,         -- up to where in the user's feed
    stamp      bigint,                  -- the mark there
    used       bigint NOT NULL,         -- up to when uses are counted in
    beside     bytea NOT NULL,          -- what the server knows beside the snapshot
    snapshot   bytea NOT NULL,
    kept       timestamptz NOT NULL DEFAULT now()
);
-- Vectors and lists do not get smaller by being compressed.
ALTER TABLE kept_indexes ALTER COLUMN snapshot SET STORAGE EXTERNAL;
ALTER TABLE kept_indexes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON kept_indexes USING (user_id = (SELECT uid()));
GRANT SELECT, DELETE ON kept_indexes TO tessera_app;

-- Keeps an index of the caller, if it is of where their feed is now: with their counter held, so that what is removed
-- for good meanwhile either is not in it, or takes it away.
CREATE FUNCTION keep_index(of_form int, is_by_meaning boolean, at_epoch bigint, at_seq bigint, at_stamp bigint,
        until bigint, of_beside bytea, of_snapshot bytea) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM FROM user_seq WHERE user_id = uid() AND seq = at_seq FOR SHARE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM kept_indexes WHERE user_id = uid();
    INSERT INTO kept_indexes VALUES (uid(), of_form, is_by_meaning, at_epoch, at_seq, at_stamp, until, of_beside, of_snapshot);
    RETURN true;
END $$;

-- Takes away the kept indexes of users: they hold words of what was removed for good.
CREATE FUNCTION drop_indexes(those text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    one    text;
BEGIN
    FOREACH one IN ARRAY those LOOP
        PERFORM set_config('app.user_id', one, true);
        DELETE FROM kept_indexes WHERE user_id = one;
    END LOOP;
    PERFORM set_config('app.user_id', caller, true);
END $$;
REVOKE ALL ON FUNCTION keep_index, drop_indexes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_index, drop_indexes TO tessera_app;

DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        PERFORM create_distributed_table('kept_indexes', 'user_id', colocate_with => 'users');
    END IF;
END $$;
