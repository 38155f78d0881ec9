-- The server under its own load: requests that find nothing new ask nothing, and replicas share their background work.

-- A new memory holds its owner's row: whoever removes a user waits for writes in progress, and a later write fails. Citus has no
-- such constraint between tables that it spreads afterwards.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        ALTER TABLE memories ADD CONSTRAINT memories_user FOREIGN KEY (owner) REFERENCES users NOT VALID;
        ALTER TABLE tag_shares ADD CONSTRAINT tag_shares_user FOREIGN KEY (owner) REFERENCES users NOT VALID;
        ALTER TABLE mutes ADD CONSTRAINT mutes_user FOREIGN KEY (user_id) REFERENCES users NOT VALID;
        ALTER TABLE fetched ADD CONSTRAINT fetched_user FOREIGN KEY (user_id) REFERENCES users NOT VALID;
        ALTER TABLE vault_writes ADD CONSTRAINT vault_writes_user FOREIGN KEY (owner) REFERENCES users NOT VALID;
        ALTER TABLE kept_indexes ADD CONSTRAINT kept_indexes_user FOREIGN KEY (user_id) REFERENCES users NOT VALID;
    END IF;
END $$;

-- An importance in millionths, where the hundredths in `importance` do not say it all.
ALTER TABLE memories ADD COLUMN importance_beyond integer CHECK (importance_beyond BETWEEN 0 AND 1000000);
GRANT UPDATE (importance_beyond) ON memories TO tessera_app;

-- The rev of the last change that somebody made. The server's own clean-up raises `rev` alone, so a deletion by a machine that has not
-- heard of the clean-up still deletes.
ALTER TABLE memories ADD COLUMN people_rev bigint NOT NULL DEFAULT 1;
ALTER TABLE memories NO FORCE ROW LEVEL SECURITY;
UPDATE memories SET people_rev = rev;
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
GRANT UPDATE (people_rev) ON memories TO tessera_app;

-- Older clients send a text again that they sent before: it is looked up by this.
ALTER TABLE memories ADD COLUMN content_md5 text GENERATED ALWAYS AS (md5(content)) STORED;

-- When which background work was last done, and by which form of the program. One replica does it for all.
CREATE TABLE chores (
    name text PRIMARY KEY,
    form text NOT NULL,
    done timestamptz NOT NULL DEFAULT now()
);

-- Since when a transaction that writes is under way, or now: rows of an earlier time are all there. A transaction that is about
-- to write says so by its name; one that has written has a number.
CREATE FUNCTION unfinished_since() RETURNS timestamptz LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT least(now(), min(xact_start)) - interval '1 microsecond' FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND (application_name = 'tessera writes' OR backend_xid IS NOT NULL)
$$;
REVOKE ALL ON FUNCTION unfinished_since FROM PUBLIC;
GRANT EXECUTE ON FUNCTION unfinished_since TO tessera_app;

-- Memories that are shared with the caller, and that their owners call by this number.
CREATE FUNCTION shared_under(of_number bigint) RETURNS SETOF uuid LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    those  text[];
    whose  text;
    what   uuid;
BEGIN
    SELECT array_agg(DISTINCT owner) INTO those FROM feed WHERE user_id = caller AND owner <> caller AND owner <> '';
    FOREACH whose IN ARRAY coalesce(those, '{}') LOOP
        PERFORM set_config('app.user_id', whose, true);
        SELECT memory INTO what FROM feed WHERE user_id = whose AND owner = whose AND handle = of_number;
        PERFORM set_config('app.user_id', caller, true);
        IF EXISTS (SELECT FROM feed WHERE user_id = caller AND owner = whose AND memory = what) THEN
            RETURN NEXT what;
        END IF;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION shared_under FROM PUBLIC;
GRANT EXECUTE ON FUNCTION shared_under TO tessera_app;

-- The owner of the tables may list whose values are on their way into a vault or out of it: no value, no text.
CREATE POLICY listed ON vault_writes FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY listed ON vault_removals FOR SELECT TO CURRENT_USER USING (true);

-- Moves memories to the end of feeds: users, and the owners and ids of memories. Without an id the user's counter moves alone:
-- an offer changed. All of a user's in one go, and users in the order of their names, so that no two transactions wait for each
-- other.
CREATE OR REPLACE FUNCTION tell(those text[], of_owners text[], of_memories uuid[]) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    one    text;
    many   bigint;
    last   bigint;
BEGIN
    FOR one, many IN SELECT who, greatest(1, count(DISTINCT (whose, what)) FILTER (WHERE what IS NOT NULL))
        FROM unnest(those, of_owners, of_memories) told (who, whose, what) GROUP BY who ORDER BY who LOOP
        PERFORM set_config('app.user_id', one, true);
        INSERT INTO user_seq VALUES (one, many) ON CONFLICT (user_id) DO UPDATE SET seq = user_seq.seq + many
            RETURNING seq INTO last;
        -- If some of the tables were restored and this one was not, its marks of later changes are void.
        INSERT INTO marks (user_id, seq) VALUES (one, last) ON CONFLICT (user_id, seq) DO UPDATE SET stamp = DEFAULT;
        INSERT INTO feed (user_id, memory, owner, seq, handle)
            SELECT one, what, whose, n, n FROM (
                SELECT whose, what, last - many + row_number() OVER (ORDER BY whose, what) AS n FROM (
                    SELECT DISTINCT whose, what FROM unnest(those, of_owners, of_memories) told (who, whose, what)
                    WHERE who = one AND what IS NOT NULL) those_of_one) numbered
            ON CONFLICT (user_id, owner, memory) DO UPDATE SET seq = excluded.seq;
    END LOOP;
    PERFORM set_config('app.user_id', caller, true);
END $$;
