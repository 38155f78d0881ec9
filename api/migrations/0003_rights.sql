-- Whose word holds: who wrote a text, what is seen of what was deleted, what is shared by a tag, and whether the
-- database is the one that a machine knows.

-- Who wrote a text that its owner did not write, and the owner's own word on how far a memory may be believed.
ALTER TABLE memories ADD COLUMN edited_by text;
ALTER TABLE memories ADD COLUMN vouched text CHECK (vouched IN ('user', 'model', 'foreign'));
GRANT UPDATE (edited_by, vouched) ON memories TO tessera_app;

-- For each change of a user's counter a random stamp: a database that was taken back does not know the later ones.
CREATE TABLE marks (
    user_id text NOT NULL,
    seq     bigint NOT NULL,
    stamp   bigint NOT NULL DEFAULT ('x' || left(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint,
    PRIMARY KEY (user_id, seq)
);
ALTER TABLE marks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON marks USING (user_id = (SELECT uid()));
GRANT SELECT ON marks TO tessera_app;
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        PERFORM create_distributed_table('marks', 'user_id', colocate_with => 'users');
    END IF;
END $$;

-- Two owners may call a memory by one id: each has a place of its own in a user's feed.
ALTER TABLE feed DROP CONSTRAINT feed_pkey, ADD PRIMARY KEY (user_id, owner, memory);
CREATE INDEX feed_memory ON feed (user_id, memory);

-- What is shared by a tag comes when it is accepted. What was shared before was agreed on before.
ALTER TABLE tag_shares ADD COLUMN status text NOT NULL DEFAULT 'accepted'
    CHECK (status IN ('offered', 'accepted', 'declined'));
ALTER TABLE tag_shares ALTER COLUMN status SET DEFAULT 'offered';

-- What a user may do with a memory: 0 nothing, 1 read, 2 write, 3 everything. A direct share is final; what its owner
-- deleted is there for nobody else. Names are bound here, whatever a session calls by them.
CREATE FUNCTION rights(of_owner text, of_memory uuid, of_tags text[], of_state text) RETURNS int LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE
        WHEN of_owner = uid() THEN 3
        WHEN of_state <> 'live' THEN 0
        WHEN EXISTS (SELECT FROM mutes WHERE user_id = uid() AND owner = of_owner
                     AND memory IN (of_memory, '00000000-0000-0000-0000-000000000000')) THEN 0
        ELSE coalesce(
            (SELECT CASE permission WHEN 'write' THEN 2 ELSE 1 END FROM memory_shares
             WHERE owner = of_owner AND memory = of_memory AND grantee = uid()),
            (SELECT max(CASE permission WHEN 'write' THEN 2 ELSE 1 END) FROM tag_shares
             WHERE owner = of_owner AND tag = ANY (of_tags) AND grantee = uid() AND status = 'accepted'),
            0)
    END;
END;
GRANT EXECUTE ON FUNCTION rights(text, uuid, text[], text) TO tessera_app;
DROP POLICY seen ON memories;
DROP POLICY changed ON memories;
CREATE POLICY seen ON memories FOR SELECT USING (owner = (SELECT uid()) OR rights(owner, id, tags, state) > 0);
CREATE POLICY changed ON memories FOR UPDATE USING (owner = (SELECT uid()) OR rights(owner, id, tags, state) > 1);
DROP FUNCTION rights(text, uuid, text[]);

-- Who sees a memory: its owner, and while it is there whoever it is shared with.
CREATE OR REPLACE FUNCTION audience(of_owner text, of_memory uuid) RETURNS text[] LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    found  text[];
BEGIN
    PERFORM set_config('app.user_id', of_owner, true);
    SELECT array_agg(DISTINCT who) INTO found FROM (
        SELECT of_owner AS who
        UNION ALL SELECT s.grantee FROM memories m JOIN memory_shares s ON s.owner = m.owner AND s.memory = m.id
            WHERE m.owner = of_owner AND m.id = of_memory AND m.state = 'live'
        UNION ALL SELECT s.grantee FROM memories m JOIN tag_shares s ON s.owner = m.owner AND s.tag = ANY (m.tags)
            WHERE m.owner = of_owner AND m.id = of_memory AND m.state = 'live' AND s.status = 'accepted'
    ) everyone;
    PERFORM set_config('app.user_id', caller, true);
    RETURN found;
END $$;

-- Moves memories to the end of feeds: users, and the owners and ids of memories. All of a user's in one go, and users
-- in the order of their names, so that no two transactions wait for each other.
CREATE OR REPLACE FUNCTION tell(those text[], of_owners text[], of_memories uuid[]) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    one    text;
    many   bigint;
    last   bigint;
BEGIN
    FOR one, many IN SELECT who, count(DISTINCT (whose, what)) FROM unnest(those, of_owners, of_memories) told (who, whose, what)
        GROUP BY who ORDER BY who LOOP
        PERFORM set_config('app.user_id', one, true);
        INSERT INTO user_seq VALUES (one, many) ON CONFLICT (user_id) DO UPDATE SET seq = user_seq.seq + many
            RETURNING seq INTO last;
        -- Where some of the tables were taken back and this one was not, what it says of later changes is over.
        INSERT INTO marks (user_id, seq) VALUES (one, last) ON CONFLICT (user_id, seq) DO UPDATE SET stamp = DEFAULT;
        INSERT INTO feed (user_id, memory, owner, seq, handle)
            SELECT one, what, whose, n, n FROM (
                SELECT whose, what, last - many + row_number() OVER (ORDER BY whose, what) AS n FROM (
                    SELECT DISTINCT whose, what FROM unnest(those, of_owners, of_memories) told (who, whose, what)
                    WHERE who = one) those_of_one) numbered
            ON CONFLICT (user_id, owner, memory) DO UPDATE SET seq = excluded.seq;
    END LOOP;
    PERFORM set_config('app.user_id', caller, true);
END $$;

-- The caller's answer to what an owner offers by a tag. False where nothing is offered, or it was so answered before.
CREATE FUNCTION answer_offer(of_owner text, of_tag text, is_accepted boolean) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    caller  text := current_setting('app.user_id', true);
    answer  text := CASE WHEN is_accepted THEN 'accepted' ELSE 'declined' END;
    changed boolean;
BEGIN
    PERFORM set_config('app.user_id', of_owner, true);
    UPDATE tag_shares SET status = answer
        WHERE owner = of_owner AND tag = of_tag AND grantee = caller AND status <> answer;
    changed := FOUND;
    PERFORM set_config('app.user_id', caller, true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION answer_offer FROM PUBLIC;
GRANT EXECUTE ON FUNCTION answer_offer TO tessera_app;

-- Nobody puts a table of their own in the place of one of these.
DO $$ BEGIN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'temporary tables stay allowed: the role that migrates does not own the database';
END $$;

-- For each user in turn, as policies bind the owner of the tables too: first a mark of what is there, for all of them; then no
-- expiry that a rule set and nobody asked for (those are whole seconds, or of what the rule left alone), and what the rule had
-- deleted is back: it did so thirty days after the expiry, when nobody had seen the memory for as long.
DO $$
DECLARE
    one  text;
    back uuid;
BEGIN
    FOR one IN SELECT user_id FROM users ORDER BY 1 LOOP
        PERFORM set_config('app.user_id', one, true);
        INSERT INTO marks (user_id, seq) SELECT user_id, seq FROM user_seq WHERE user_id = one AND seq > 0;
    END LOOP;
    FOR one IN SELECT user_id FROM users ORDER BY 1 LOOP
        PERFORM set_config('app.user_id', one, true);
        FOR back IN
            UPDATE memories SET state = 'live', rev = rev + 1, expires = NULL,
                updated = (extract(epoch FROM now()) * 1000000)::bigint
                WHERE owner = one AND state = 'deleted' AND expires + 30 * 86400000000 <= updated
                    AND expires % 1000000 <> 0 AND NOT standing AND category <> 'people' AND importance < 60
                RETURNING id LOOP
            PERFORM tell(everyone, array_fill(one, ARRAY[cardinality(everyone)]), array_fill(back, ARRAY[cardinality(everyone)]))
                FROM audience(one, back) everyone;
            PERFORM set_config('app.user_id', one, true);
        END LOOP;
        UPDATE memories SET expires = NULL
            WHERE owner = one AND expires % 1000000 <> 0 AND NOT standing AND category <> 'people' AND importance < 60;
    END LOOP;
    PERFORM set_config('app.user_id', '', true);
END $$;
