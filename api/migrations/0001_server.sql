-- The schema of the team server. Before the first release this file is edited; a shipped migration is never edited.
--
-- Every table with data of users begins its key with the user, so that all of it can be spread by user over several machines
-- (db/spread.rs); no key and no sequence crosses users. Rows are guarded by policies that are forced on the owner of the tables
-- too; a transaction names its user in `app.user_id`. The server's requests run as `tessera_app`, which owns nothing and may
-- change no owner.

DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tessera_app') THEN
        CREATE ROLE tessera_app NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT;
    END IF;
    EXECUTE format('GRANT tessera_app TO %I', current_user);
END $$;

-- Nobody puts a table of their own in the place of one of these.
DO $$ BEGIN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'temporary tables stay allowed: the role that migrates does not own the database';
END $$;

CREATE FUNCTION uid() RETURNS text LANGUAGE sql STABLE
    RETURN nullif(current_setting('app.user_id', true), '');

-- ---------------------------------------------------------------------------------------------------------------- tables

-- One row: what this database is.
CREATE TABLE server_meta (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch       bigint NOT NULL DEFAULT 1,  -- a restore from a backup begins a new one
    -- A random value of this database, from which a key is derived together with a passphrase.
    secret_salt bytea NOT NULL
        DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
    secret_key  text,                       -- the id of the key that encrypts here
    -- When what grows was cleaned up last: one replica does it, and the others see that it did.
    cleaned     timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO server_meta DEFAULT VALUES;

-- For each epoch that a restore began: how far a user's changes were kept.
CREATE TABLE restores (
    user_id text NOT NULL,
    epoch   bigint NOT NULL,
    seq     bigint NOT NULL,
    PRIMARY KEY (user_id, epoch)
);

-- When which background work was last done, and by which form of the program. One replica does it for all.
CREATE TABLE chores (
    name text PRIMARY KEY,
    form text NOT NULL,
    done timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE users (
    user_id text PRIMARY KEY CHECK (user_id ~ '^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$'),
    created timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    user_id    text NOT NULL REFERENCES users ON DELETE CASCADE,
    key_id     text NOT NULL,
    hash       bytea NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the secret, which is random
    label      text NOT NULL,
    scopes     text[] NOT NULL,
    created    timestamptz NOT NULL DEFAULT now(),
    expires    timestamptz,
    revoked    timestamptz,
    distrusted timestamptz,  -- since when no vector sent under this key is used: some of them did not fit their texts
    PRIMARY KEY (user_id, key_id)
);
CREATE INDEX api_keys_key ON api_keys (key_id);

-- A write holds its user's row: a process that removes the user waits for writes in progress, and a later write fails instead of
-- leaving rows of a user who does not exist. The other tables with such a reference have it for the same reason.
CREATE TABLE memories (
    owner       text NOT NULL CONSTRAINT memories_user REFERENCES users,
    id          uuid NOT NULL,
    rev         bigint NOT NULL CHECK (rev > 0),
    -- The rev of the last change that somebody made. The server's own clean-up raises `rev` alone, so a deletion by a machine
    -- that does not know of the clean-up still deletes.
    people_rev  bigint NOT NULL DEFAULT 1,
    content_rev bigint NOT NULL,
    details_at  bigint NOT NULL,          -- microseconds since 1970, a machine's time
    state       text NOT NULL CHECK (state IN ('live', 'deleted', 'purged')),
    edited_by   text,                     -- who wrote a text that its owner did not write
    content     text NOT NULL,            -- empty once purged, like everything below
    tags        text[] NOT NULL,
    category    text NOT NULL,
    type        text NOT NULL,
    importance  smallint NOT NULL CHECK (importance BETWEEN 0 AND 100),
    importance_beyond integer CHECK (importance_beyond BETWEEN 0 AND 1000000), -- in millionths, where hundredths are not exact
    keywords    text[] NOT NULL,
    entities    text[] NOT NULL,
    links       text[] NOT NULL,          -- type:id
    scope       text NOT NULL,
    created     bigint NOT NULL,
    expires     bigint,
    vouched     text CHECK (vouched IN ('user', 'model', 'foreign')), -- the owner's own word on its trust
    origin      text NOT NULL,
    session     text,
    conflict_of uuid,
    file        text,                     -- the file that it is, if it is one: /memories/user/preferences.md
    metadata    text,                     -- a JSON object that a client keeps beside it, as it was written
    updated     bigint NOT NULL,          -- the server's time
    -- Derived from the above when it is written.
    summary     text NOT NULL,
    standing    boolean NOT NULL,
    length      int NOT NULL,
    signature   bigint NOT NULL,
    forward     bytea NOT NULL,           -- forward blob, without the words around it; empty unless live
    costs       int[] NOT NULL,           -- tokens of: full line, index line, and both as JSON, with a short_id of one token
    passages    bytea NOT NULL,
    -- Vectors: the version of the encoder, then one vector for each passage; empty while it waits for them.
    meaning     bytea NOT NULL DEFAULT '',
    meant_rev   bigint NOT NULL DEFAULT 0, -- the rev of the text that they are of
    -- The key of the machine that sent them, until this server computed the same itself; and whether it is to.
    meant_by    text,
    meant_check boolean NOT NULL DEFAULT false,
    -- Older clients send a text again that they sent before: it is looked up by this.
    content_md5 text GENERATED ALWAYS AS (md5(content)) STORED,
    PRIMARY KEY (owner, id)
);
-- Vectors do not get smaller by compression.
ALTER TABLE memories ALTER COLUMN meaning SET STORAGE EXTERNAL;
CREATE INDEX memories_tags ON memories USING gin (tags);
-- Which rows wait, by owner and the version of what is there; which are to be checked; which were never. A look-up by id says
-- nothing about `meant_check`, so the planner cannot take the first index for it.
CREATE INDEX memories_waiting ON memories
    (owner, (CASE WHEN meant_rev = content_rev THEN substring(meaning FROM 1 FOR 1) ELSE ''::bytea END))
    WHERE state = 'live' AND NOT meant_check;
CREATE INDEX memories_to_check ON memories (owner) WHERE meant_check;
CREATE INDEX memories_unchecked ON memories (owner) WHERE meant_by IS NOT NULL;

CREATE TABLE memory_shares (
    owner      text NOT NULL,
    memory     uuid NOT NULL,
    grantee    text NOT NULL,
    permission text NOT NULL CHECK (permission IN ('read', 'write')),
    created    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, memory, grantee),
    FOREIGN KEY (owner, memory) REFERENCES memories (owner, id) ON DELETE CASCADE,
    CHECK (owner <> grantee)
);
CREATE INDEX memory_shares_grantee ON memory_shares (grantee, memory);

-- What is shared by a tag appears once it is accepted.
CREATE TABLE tag_shares (
    owner      text NOT NULL CONSTRAINT tag_shares_user REFERENCES users,
    tag        text NOT NULL,
    grantee    text NOT NULL,
    permission text NOT NULL CHECK (permission IN ('read', 'write')),
    status     text NOT NULL DEFAULT 'offered' CHECK (status IN ('offered', 'accepted', 'declined')),
    created    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, tag, grantee),
    CHECK (owner <> grantee)
);
CREATE INDEX tag_shares_grantee ON tag_shares (grantee, owner, tag);

-- Memories, or with the nil id all memories, of an owner that a user does not want to see.
CREATE TABLE mutes (
    user_id text NOT NULL CONSTRAINT mutes_user REFERENCES users,
    owner   text NOT NULL,
    memory  uuid NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, owner, memory)
);

-- Each user's counter of changes: a row, bumped last in a transaction and locked until its end, so that nothing with a smaller
-- number can become visible later.
CREATE TABLE user_seq (
    user_id text PRIMARY KEY,
    seq     bigint NOT NULL
);

-- For each change of a user's counter a random stamp: a database that was restored from a backup does not know the later ones.
CREATE TABLE marks (
    user_id text NOT NULL,
    seq     bigint NOT NULL,
    stamp   bigint NOT NULL DEFAULT ('x' || left(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint,
    PRIMARY KEY (user_id, seq)
);

-- What changed for a user: one row for each owner and memory, moved to the end by every change. The short_id is the short number
-- that the memory has for this user: where it first was. Counts of uses are the user's as well.
CREATE TABLE feed (
    user_id text NOT NULL,
    memory  uuid NOT NULL,
    owner   text NOT NULL,
    seq     bigint NOT NULL,
    short_id  bigint NOT NULL,
    uses    int NOT NULL DEFAULT 0,
    used    bigint,
    PRIMARY KEY (user_id, owner, memory)
);
CREATE UNIQUE INDEX feed_seq ON feed (user_id, seq);
CREATE UNIQUE INDEX feed_short_id ON feed (user_id, short_id);
CREATE INDEX feed_memory ON feed (user_id, memory);

-- Ops that were carried out: a retry is a replay.
CREATE TABLE applied_ops (
    user_id text NOT NULL CONSTRAINT applied_ops_user REFERENCES users,
    op_id   uuid NOT NULL,
    hash    bytea NOT NULL,
    refused text,
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, op_id)
);

-- Credentials that were redacted, by the name that the text has in the place of the value. Encrypted for its owner and memory,
-- or in a vault.
CREATE TABLE memory_secrets (
    owner  text NOT NULL,
    memory uuid NOT NULL,
    name   text NOT NULL,
    kind   text NOT NULL,
    mark   bytea NOT NULL,              -- equal for equal values of one owner under one key; says nothing without the key
    sealed bytea,
    place  text NOT NULL DEFAULT 'here' CHECK (place IN ('here', 'vault')),
    made   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, memory, name),
    FOREIGN KEY (owner, memory) REFERENCES memories (owner, id) ON DELETE CASCADE,
    CHECK ((place = 'here') = (sealed IS NOT NULL))
);
CREATE INDEX memory_secrets_name ON memory_secrets (owner, name);

-- What was put into a vault for a row that does not exist yet, and what is to leave it with a row that was removed.
CREATE TABLE vault_writes (
    owner  text NOT NULL CONSTRAINT vault_writes_user REFERENCES users,
    memory uuid NOT NULL,
    name   text NOT NULL,
    since  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, memory, name)
);
CREATE TABLE vault_removals (
    owner  text NOT NULL,
    memory uuid NOT NULL,
    since  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, memory)
);

-- Who did what, with which key, from where. No texts. Rows are added, and nothing else.
CREATE TABLE audit (
    user_id text NOT NULL,
    id      uuid NOT NULL DEFAULT gen_random_uuid(),
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    what    text NOT NULL,
    target  text NOT NULL,
    key_id  text,                       -- NULL for work on the server's host
    address text,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX audit_at ON audit (user_id, at);
CREATE FUNCTION only_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what is audited stays as it is';
END $$;
CREATE TRIGGER only_added BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION only_added();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION only_added();

-- What was deleted permanently, and who saw it then.
CREATE TABLE purges (
    owner  text NOT NULL,
    memory uuid NOT NULL,
    at     timestamptz NOT NULL DEFAULT now(),
    told   text[] NOT NULL,
    PRIMARY KEY (owner, memory)
);

-- How far each machine of a user has received changes: it asks for what comes after.
CREATE TABLE fetched (
    user_id text NOT NULL CONSTRAINT fetched_user REFERENCES users,
    key_id  text NOT NULL,
    machine text NOT NULL,
    after   bigint NOT NULL,
    asked   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key_id, machine)
);

-- The index of a user as a server built it: the next server takes it from here and reads what changed since. It is a cache.
CREATE TABLE kept_indexes (
    user_id    text PRIMARY KEY CONSTRAINT kept_indexes_user REFERENCES users,
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
ALTER TABLE kept_indexes ALTER COLUMN snapshot SET STORAGE EXTERNAL;

-- ---------------------------------------------------------------------------------------------------- who may see which row

-- What a user may do with a memory: 0 nothing, 1 read, 2 write, 3 everything. A direct share is final; a memory that its owner
-- deleted exists for nobody else. Names are bound here, whatever a session calls by them.
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

DO $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['users', 'api_keys', 'memories', 'memory_shares', 'tag_shares', 'mutes', 'user_seq', 'marks', 'feed',
        'applied_ops', 'restores', 'memory_secrets', 'vault_writes', 'vault_removals', 'audit', 'purges', 'fetched', 'kept_indexes']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one);
    END LOOP;
END $$;

CREATE POLICY own ON users USING (user_id = (SELECT uid()));
-- Work on the server's host goes through all users: the owner of the tables may list their names, a request not.
CREATE POLICY listed ON users FOR SELECT TO CURRENT_USER USING (true);
-- A key is looked up before it is known whose it is: by its id alone.
CREATE POLICY own ON api_keys USING (user_id = (SELECT uid()));
CREATE POLICY presented ON api_keys FOR SELECT USING (key_id = nullif(current_setting('app.key_id', true), ''));
CREATE POLICY seen ON memories FOR SELECT USING (owner = (SELECT uid()) OR rights(owner, id, tags, state) > 0);
CREATE POLICY made ON memories FOR INSERT WITH CHECK (owner = (SELECT uid()));
CREATE POLICY changed ON memories FOR UPDATE USING (owner = (SELECT uid()) OR rights(owner, id, tags, state) > 1);
-- Rows of a user are removed with the user, and only by work on the server's host: a request may delete none.
CREATE POLICY removed ON memories FOR DELETE TO CURRENT_USER USING (owner = (SELECT uid()));
CREATE POLICY own ON memory_shares USING (owner = (SELECT uid()));
CREATE POLICY granted ON memory_shares FOR SELECT USING (grantee = (SELECT uid()));
CREATE POLICY own ON tag_shares USING (owner = (SELECT uid()));
CREATE POLICY granted ON tag_shares FOR SELECT USING (grantee = (SELECT uid()));
CREATE POLICY own ON mutes USING (user_id = (SELECT uid()));
CREATE POLICY own ON user_seq USING (user_id = (SELECT uid()));
CREATE POLICY own ON marks USING (user_id = (SELECT uid()));
CREATE POLICY own ON restores USING (user_id = (SELECT uid()));
CREATE POLICY own ON feed USING (user_id = (SELECT uid()));
CREATE POLICY own ON applied_ops USING (user_id = (SELECT uid()));
-- Secrets are their owner's alone, however a memory is shared.
CREATE POLICY own ON memory_secrets USING (owner = (SELECT uid()));
CREATE POLICY own ON vault_writes USING (owner = (SELECT uid()));
CREATE POLICY own ON vault_removals USING (owner = (SELECT uid()));
-- The owner of the tables may list whose values are on their way into a vault or out of it: no value, no text.
CREATE POLICY listed ON vault_writes FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY listed ON vault_removals FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY own ON audit USING (user_id = (SELECT uid()));
CREATE POLICY own ON purges USING (owner = (SELECT uid()));
CREATE POLICY own ON fetched USING (user_id = (SELECT uid()));
CREATE POLICY own ON kept_indexes USING (user_id = (SELECT uid()));
-- Keys, and where the feeds of their users are, for all requests that wait for it: one statement. Two settings say which rows
-- that is; they hold within the statement and for the role that connects alone.
CREATE POLICY asked ON api_keys FOR SELECT TO CURRENT_USER
    USING (key_id = ANY (string_to_array(current_setting('app.asked_keys', true), ',')));
CREATE POLICY asked ON user_seq FOR SELECT TO CURRENT_USER
    USING (user_id = ANY (string_to_array(current_setting('app.asked_users', true), ',')));
CREATE POLICY asked ON marks FOR SELECT TO CURRENT_USER
    USING (user_id = ANY (string_to_array(current_setting('app.asked_users', true), ',')));

-- ------------------------------------------------------------------------------------------------------------- functions

-- The user of a presented key, by its id alone, in one statement.
CREATE FUNCTION presented_key(presented text)
    RETURNS TABLE (key_user text, key_hash bytea, key_scopes text[]) LANGUAGE plpgsql
    SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM set_config('app.key_id', presented, true);
    RETURN QUERY SELECT user_id, hash, scopes FROM api_keys
        WHERE key_id = presented AND revoked IS NULL AND (expires IS NULL OR expires > now());
    PERFORM set_config('app.key_id', '', true);
END $$;

-- The same for many keys, with where the feeds of their users are. A key that is unknown, revoked or expired has no user, and
-- takes as long.
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

-- Who sees a memory with these tags: its owner, and while it is live the users with whom it is shared. Only its owner may read
-- its shares: for the length of the query, the caller is the owner.
CREATE FUNCTION sharers(of_owner text, of_memory uuid, of_tags text[], is_live boolean) RETURNS text[] LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    found  text[];
BEGIN
    PERFORM set_config('app.user_id', of_owner, true);
    SELECT array_agg(DISTINCT who) INTO found FROM (
        SELECT of_owner AS who
        UNION ALL SELECT grantee FROM memory_shares WHERE owner = of_owner AND memory = of_memory AND is_live
        UNION ALL SELECT grantee FROM tag_shares
            WHERE owner = of_owner AND tag = ANY (of_tags) AND status = 'accepted' AND is_live
    ) everyone;
    PERFORM set_config('app.user_id', caller, true);
    RETURN found;
END $$;

-- Who sees a memory as it is.
CREATE FUNCTION audience(of_owner text, of_memory uuid) RETURNS text[] LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    found  record;
BEGIN
    PERFORM set_config('app.user_id', of_owner, true);
    SELECT tags, state = 'live' AS is_live INTO found FROM memories WHERE owner = of_owner AND id = of_memory;
    PERFORM set_config('app.user_id', caller, true);
    RETURN sharers(of_owner, of_memory, coalesce(found.tags, '{}'), coalesce(found.is_live, false));
END $$;

-- True when there is such a user: shares are for users that are known.
CREATE FUNCTION is_user(who text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    found  boolean;
BEGIN
    PERFORM set_config('app.user_id', who, true);
    SELECT EXISTS (SELECT FROM users WHERE user_id = who) INTO found;
    PERFORM set_config('app.user_id', caller, true);
    RETURN found;
END $$;

-- Moves memories to the end of feeds: users, and the owners and ids of memories. Without an id the user's counter moves alone:
-- an offer changed. All of a user's in one go, and users in the order of their names, so that no two transactions wait for each
-- other.
CREATE FUNCTION tell(those text[], of_owners text[], of_memories uuid[]) RETURNS void LANGUAGE plpgsql
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
        INSERT INTO feed (user_id, memory, owner, seq, short_id)
            SELECT one, what, whose, n, n FROM (
                SELECT whose, what, last - many + row_number() OVER (ORDER BY whose, what) AS n FROM (
                    SELECT DISTINCT whose, what FROM unnest(those, of_owners, of_memories) told (who, whose, what)
                    WHERE who = one AND what IS NOT NULL) those_of_one) numbered
            ON CONFLICT (user_id, owner, memory) DO UPDATE SET seq = excluded.seq;
    END LOOP;
    PERFORM set_config('app.user_id', caller, true);
END $$;

-- Begins an op of a user about a memory, in one round trip. Registers the op: a repeated op is not new, and its digest and
-- refusal are returned. Without an op it only looks. Otherwise it returns the owners of the memories that the user knows by this
-- id, the user first; the short_id of the first; and whether vectors sent under a key are not used.
-- Until the transaction ends, nobody changes with whom the first owner shares: a user who comes to see a memory by a share, or by
-- a change of the memory, is told of it by one of the two.
CREATE FUNCTION op_begin(who text, op uuid, digest bytea, about uuid, with_key text)
    RETURNS TABLE (is_new boolean, known_hash bytea, known_refusal text, owners text[], short_id bigint,
        is_distrusted boolean)
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    is_new := true;
    IF op IS NOT NULL THEN
        INSERT INTO applied_ops (user_id, op_id, hash) VALUES (who, op, digest) ON CONFLICT DO NOTHING;
        is_new := FOUND;
    END IF;
    IF NOT is_new THEN
        SELECT a.hash, a.refused INTO known_hash, known_refusal FROM applied_ops a WHERE a.user_id = who AND a.op_id = op;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT array_agg(f.owner ORDER BY f.owner <> who, f.short_id), (array_agg(f.short_id ORDER BY f.owner <> who, f.short_id))[1]
        INTO owners, short_id FROM feed f WHERE f.user_id = who AND f.memory = about;
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(coalesce(owners[1], who), 0));
    IF with_key IS NOT NULL THEN
        -- A process that stops using the key's vectors waits for this transaction, and drops what it writes as well.
        SELECT k.distrusted IS NOT NULL INTO is_distrusted FROM api_keys k WHERE k.user_id = who AND k.key_id = with_key FOR SHARE;
        is_distrusted := coalesce(is_distrusted, true);
    END IF;
    RETURN NEXT;
END $$;

-- Who saw a memory with its tags and state before a change, and who sees it now.
CREATE FUNCTION seen_by(of_owner text, of_memory uuid, old_tags text[], was_live boolean)
    RETURNS TABLE (before text[], after text[]) LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    before := CASE WHEN old_tags IS NULL THEN '{}' ELSE sharers(of_owner, of_memory, old_tags, was_live) END;
    after := audience(of_owner, of_memory);
    RETURN NEXT;
END $$;

-- Ends an op about a memory, in one round trip: tells everybody who saw the memory or sees it now. Returns them, and the place of
-- the memory in the caller's own feed.
CREATE FUNCTION op_end(who text, of_owner text, about uuid, old_tags text[], was_live boolean)
    RETURNS TABLE (before text[], after text[], seq bigint) LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    those text[];
BEGIN
    SELECT s.before, s.after INTO before, after FROM seen_by(of_owner, about, old_tags, was_live) s;
    those := before || after;
    PERFORM tell(those, array_fill(of_owner, ARRAY[cardinality(those)]), array_fill(about, ARRAY[cardinality(those)]));
    SELECT max(f.seq) INTO seq FROM feed f WHERE f.user_id = who AND f.memory = about;
    RETURN NEXT;
END $$;

-- The caller's answer to what an owner offers by a tag. False where nothing is offered, or the answer was the same before.
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

-- Of those who saw what the caller deleted permanently: how many machines of theirs ask for changes, and how many have asked for
-- what comes after the deletion. A machine that has not asked for 90 days is not counted.
CREATE FUNCTION heard(of_memory uuid) RETURNS TABLE (who text, machines bigint, confirmed bigint) LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    those  text[];
    told_at bigint;
BEGIN
    SELECT told INTO those FROM purges WHERE owner = caller AND memory = of_memory;
    FOREACH who IN ARRAY coalesce(those, '{}') LOOP
        CONTINUE WHEN who = caller;
        PERFORM set_config('app.user_id', who, true);
        SELECT max(seq) INTO told_at FROM feed WHERE user_id = who AND owner = caller AND memory = of_memory;
        SELECT count(*), count(*) FILTER (WHERE after >= told_at) INTO machines, confirmed
            FROM fetched WHERE user_id = who AND asked > now() - interval '90 days';
        PERFORM set_config('app.user_id', caller, true);
        RETURN NEXT;
    END LOOP;
END $$;

-- Keeps an index of the caller, if it is of where their feed is now: with their counter held, so that what is deleted permanently
-- meanwhile either is not in it, or removes it.
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

-- Removes the kept indexes of users: they hold words of what was deleted permanently.
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

-- Since when a transaction that writes is under way, or now: rows of an earlier time are all there. A transaction that is about
-- to write says so by its name; one that has written has a number.
CREATE FUNCTION unfinished_since() RETURNS timestamptz LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT least(now(), min(xact_start)) - interval '1 microsecond' FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND (application_name = 'tessera writes' OR backend_xid IS NOT NULL)
$$;

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
        SELECT memory INTO what FROM feed WHERE user_id = whose AND owner = whose AND short_id = of_number;
        PERFORM set_config('app.user_id', caller, true);
        IF EXISTS (SELECT FROM feed WHERE user_id = caller AND owner = whose AND memory = what) THEN
            RETURN NEXT what;
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION every_user() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT user_id FROM users ORDER BY 1';

-- ---------------------------------------------------------------------------------------------- what a request may do

REVOKE ALL ON FUNCTION presented_key, asked, sharers, audience, is_user, tell, op_begin, seen_by, op_end, answer_offer, heard,
    keep_index, drop_indexes, unfinished_since, shared_under, every_user FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO tessera_app;
GRANT EXECUTE ON FUNCTION uid, rights, sharers, audience, is_user, tell, op_begin, seen_by, op_end, answer_offer, heard, keep_index,
    drop_indexes, unfinished_since, shared_under TO tessera_app;
GRANT SELECT ON server_meta, restores, users, api_keys, memories, memory_shares, tag_shares, mutes, user_seq, marks, feed,
    applied_ops, memory_secrets, vault_writes, vault_removals, purges, fetched, kept_indexes TO tessera_app;
GRANT INSERT ON memories, memory_shares, tag_shares, mutes, applied_ops, memory_secrets, vault_writes, vault_removals, audit,
    purges, fetched TO tessera_app;
GRANT UPDATE (rev, people_rev, content_rev, details_at, state, edited_by, content, tags, category, type, importance,
    importance_beyond, keywords, entities, links, scope, created, expires, vouched, origin, session, conflict_of, file, metadata,
    updated, summary, standing, length, signature, forward, costs, passages, meaning, meant_rev, meant_by, meant_check)
    ON memories TO tessera_app;
GRANT UPDATE (uses, used) ON feed TO tessera_app;
-- The digest of an op could reveal a value that was found in its text later, by trying: it is emptied when the row is cleaned.
GRANT UPDATE (refused, hash) ON applied_ops TO tessera_app;
GRANT UPDATE (permission) ON memory_shares, tag_shares TO tessera_app;
GRANT UPDATE (distrusted) ON api_keys TO tessera_app;
GRANT UPDATE (kind, mark, sealed, place) ON memory_secrets TO tessera_app;
GRANT UPDATE (since) ON vault_writes, vault_removals TO tessera_app;
GRANT UPDATE (after, asked) ON fetched TO tessera_app;
GRANT DELETE ON memory_shares, tag_shares, mutes, memory_secrets, vault_writes, vault_removals, kept_indexes TO tessera_app;
