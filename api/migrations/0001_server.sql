-- The schema of the team server. Before the first release this file is edited; a shipped migration is never edited.
--
-- The key of every table with data of users begins with the user, so that the tables can be distributed by user over several
-- machines (db/spread.rs). No key and no sequence is shared by users. Row policies protect the rows, and they also apply to the
-- owner of the tables. A transaction sets its user in `app.user_id`. Requests run as `tessera_app`, which owns nothing and
-- cannot change an owner.

DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tessera_app') THEN
        CREATE ROLE tessera_app NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT;
    END IF;
    EXECUTE format('GRANT tessera_app TO %I', current_user);
END $$;

-- Without temporary tables, nobody can replace one of these tables by a table of their own.
DO $$ BEGIN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'temporary tables stay allowed: the role that migrates does not own the database';
END $$;

CREATE FUNCTION uid() RETURNS text LANGUAGE sql STABLE
    RETURN nullif(current_setting('app.user_id', true), '');

-- ---------------------------------------------------------------------------------------------------------------- tables

-- One row: the identity of this database.
CREATE TABLE server_meta (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch       bigint NOT NULL DEFAULT 1,  -- increased by `restored` after a restore from a backup
    -- A random value of this database, from which a key is derived together with a passphrase.
    secret_salt bytea NOT NULL
        DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
    secret_key  text,                       -- the ID of the encryption key
    -- When a replica last deleted obsolete rows, so that the other replicas do not repeat it.
    cleaned     timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO server_meta DEFAULT VALUES;

-- For each restore: the last change of each user that the restored database contained.
CREATE TABLE restores (
    user_id text NOT NULL,
    epoch   bigint NOT NULL,
    seq     bigint NOT NULL,
    PRIMARY KEY (user_id, epoch)
);

-- Background work that one replica does for all: when it was last done, and by which version of the program.
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
    distrusted timestamptz,  -- since when embeddings sent with this key are not used, because one was wrong
    PRIMARY KEY (user_id, key_id)
);
CREATE INDEX api_keys_key ON api_keys (key_id);

-- Because of the reference, a write locks its user's row. So a process that removes the user waits for writes in progress, and a
-- later write fails instead of leaving rows of a removed user. Other tables have the same reference for the same reason.
CREATE TABLE memories (
    owner       text NOT NULL CONSTRAINT memories_user REFERENCES users,
    id          uuid NOT NULL,
    rev         bigint NOT NULL CHECK (rev > 0),
    -- The rev of the last change by a user. The server's clean-up only increases `rev`, so a machine that does not know of the
    -- clean-up can still delete the memory.
    people_rev  bigint NOT NULL DEFAULT 1,
    content_rev bigint NOT NULL,
    details_at  bigint NOT NULL,          -- microseconds since 1970, by the clock of a machine
    state       text NOT NULL CHECK (state IN ('live', 'deleted', 'purged')),
    edited_by   text,                     -- the author of the text, if not the owner
    content     text NOT NULL,            -- empty after a permanent deletion, like all columns below
    tags        text[] NOT NULL,
    category    text NOT NULL,
    type        text NOT NULL,
    importance  smallint NOT NULL CHECK (importance BETWEEN 0 AND 100),
    -- The exact importance, if the hundredths are rounded.
    importance_millionths integer CHECK (importance_millionths BETWEEN 0 AND 1000000),
    keywords    text[] NOT NULL,
    entities    text[] NOT NULL,
    links       text[] NOT NULL,          -- type:id
    scope       text NOT NULL,
    created     bigint NOT NULL,
    expires     bigint,
    owner_trust     text CHECK (owner_trust IN ('user', 'model', 'foreign')), -- the trust that the owner set
    origin      text NOT NULL,
    session     text,
    conflict_of uuid,
    file        text,                     -- the path, if the memory is a file: /memories/user/preferences.md
    metadata    text,                     -- a JSON object that a client stores with the memory, unchanged
    updated     bigint NOT NULL,          -- the server's time
    -- Derived from the columns above at each write.
    summary     text NOT NULL,
    is_instruction    boolean NOT NULL,
    length      int NOT NULL,
    signature   bigint NOT NULL,
    forward     bytea NOT NULL,           -- stored terms without the context field; empty if the memory is deleted
    costs       int[] NOT NULL,           -- tokens of the full text and the summary, as text and as JSON (for ID 1), then the version
    passages    bytea NOT NULL,
    -- The version of the encoder, then one vector for each passage; empty if they are not computed yet.
    embedding     bytea NOT NULL DEFAULT '',
    embedding_rev   bigint NOT NULL DEFAULT 0, -- the content_rev of the embedded text
    -- The key of the machine that sent the embedding, until this server has computed the same; and whether it must do so.
    embedding_key    text,
    embedding_check boolean NOT NULL DEFAULT false,
    -- False until the memory was compared with older ones. The machine that sends a memory has compared it.
    related boolean NOT NULL DEFAULT false,
    -- For clients of the older API, which send a text again: the server looks up the existing memory by this digest.
    content_md5 text GENERATED ALWAYS AS (md5(content)) STORED,
    PRIMARY KEY (owner, id)
);
-- Compression does not make vectors smaller.
ALTER TABLE memories ALTER COLUMN embedding SET STORAGE EXTERNAL;
CREATE INDEX memories_tags ON memories USING gin (tags);
-- Rows without a current embedding, by owner and encoder version; rows to be checked; and rows that were never checked. The
-- condition on `embedding_check` keeps the planner from using the first index for a look-up by ID.
CREATE INDEX memories_waiting ON memories
    (owner, (CASE WHEN embedding_rev = content_rev THEN substring(embedding FROM 1 FOR 1) ELSE ''::bytea END))
    WHERE state = 'live' AND NOT embedding_check;
CREATE INDEX memories_to_check ON memories (owner) WHERE embedding_check;
CREATE INDEX memories_unchecked ON memories (owner) WHERE embedding_key IS NOT NULL;
CREATE INDEX memories_unrelated ON memories (owner) WHERE NOT related;

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

-- Memories that are shared by a tag become visible after the user accepts the invitation.
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

-- Shared memories that a user has hidden. The nil UUID means all memories of the owner.
CREATE TABLE mutes (
    user_id text NOT NULL CONSTRAINT mutes_user REFERENCES users,
    owner   text NOT NULL,
    memory  uuid NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, owner, memory)
);

-- The change counter of each user. A transaction increases it last, and holds its lock until the end. So a change with a smaller
-- number cannot become visible later.
CREATE TABLE user_seq (
    user_id text PRIMARY KEY,
    seq     bigint NOT NULL
);

-- Checkpoints: a random stamp for each change of a user's counter. A database that was restored from a backup does not know the
-- later stamps.
CREATE TABLE checkpoints (
    user_id text NOT NULL,
    seq     bigint NOT NULL,
    stamp   bigint NOT NULL DEFAULT ('x' || left(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint,
    PRIMARY KEY (user_id, seq)
);

-- The change feed of each user: one row for each memory, which every change moves to the end. `short_id` is the ID of the memory
-- for this user: its first position in the feed. The access counts also belong to this user.
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

-- Applied changes, so that a repeated change is not applied twice.
CREATE TABLE applied_ops (
    user_id text NOT NULL CONSTRAINT applied_ops_user REFERENCES users,
    op_id   uuid NOT NULL,
    hash    bytea NOT NULL,
    refused text,
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, op_id)
);

-- Redacted secrets. The text contains the name in place of the value. The value is encrypted for its owner and memory, or it is
-- in a vault.
CREATE TABLE memory_secrets (
    owner  text NOT NULL,
    memory uuid NOT NULL,
    name   text NOT NULL,
    kind   text NOT NULL,
    mark   bytea NOT NULL,              -- a keyed fingerprint: equal for equal values of one owner under one key
    sealed bytea,
    place  text NOT NULL DEFAULT 'here' CHECK (place IN ('here', 'vault')),
    made   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, memory, name),
    FOREIGN KEY (owner, memory) REFERENCES memories (owner, id) ON DELETE CASCADE,
    CHECK ((place = 'here') = (sealed IS NOT NULL))
);
CREATE INDEX memory_secrets_name ON memory_secrets (owner, name);

-- Values in the vault whose row is not stored yet, and values that must be deleted because their row was removed.
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

-- Who did what, with which key, from which address. It contains no texts, and its rows cannot be changed or deleted.
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
    RAISE EXCEPTION 'rows of the audit cannot be changed';
END $$;
CREATE TRIGGER only_added BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION only_added();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION only_added();

-- Permanently deleted memories, and the users who could see them.
CREATE TABLE purges (
    owner  text NOT NULL,
    memory uuid NOT NULL,
    at     timestamptz NOT NULL DEFAULT now(),
    told   text[] NOT NULL,
    PRIMARY KEY (owner, memory)
);

-- The feed position up to which each machine of a user has received changes.
CREATE TABLE fetched (
    user_id text NOT NULL CONSTRAINT fetched_user REFERENCES users,
    key_id  text NOT NULL,
    machine text NOT NULL,
    after   bigint NOT NULL,
    asked   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key_id, machine)
);

-- The index of each user, as a cache. A server that starts loads the index and reads only the changes since then.
CREATE TABLE index_cache (
    user_id    text PRIMARY KEY CONSTRAINT kept_indexes_user REFERENCES users,
    form       int NOT NULL,            -- the version of the code that built the index
    by_embedding boolean NOT NULL,
    epoch      bigint NOT NULL,
    seq        bigint NOT NULL,         -- the position in the user's feed
    stamp      bigint,                  -- the checkpoint at this position
    used       bigint NOT NULL,         -- the time of the latest access count that is included
    beside     bytea NOT NULL,          -- data that the snapshot does not contain
    snapshot   bytea NOT NULL,
    kept       timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE index_cache ALTER COLUMN snapshot SET STORAGE EXTERNAL;

-- ---------------------------------------------------------------------------------------------------- who may see which row

-- The rights of a user on a memory: 0 none, 1 read, 2 write, 3 owner. A direct share has priority over shares of tags. Nobody but
-- the owner sees a deleted memory. The names in this function are resolved now, so a session cannot replace them.
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
    FOREACH one IN ARRAY ARRAY['users', 'api_keys', 'memories', 'memory_shares', 'tag_shares', 'mutes', 'user_seq', 'checkpoints',
        'feed', 'applied_ops', 'restores', 'memory_secrets', 'vault_writes', 'vault_removals', 'audit', 'purges', 'fetched',
    'index_cache']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one);
    END LOOP;
END $$;

CREATE POLICY own ON users USING (user_id = (SELECT uid()));
-- Work on the server's host needs all users, so the owner of the tables may list their names. A request cannot.
CREATE POLICY listed ON users FOR SELECT TO CURRENT_USER USING (true);
-- A key is looked up by its ID alone, because its user is not known yet.
CREATE POLICY own ON api_keys USING (user_id = (SELECT uid()));
CREATE POLICY presented ON api_keys FOR SELECT USING (key_id = nullif(current_setting('app.key_id', true), ''));
CREATE POLICY seen ON memories FOR SELECT USING (owner = (SELECT uid()) OR rights(owner, id, tags, state) > 0);
CREATE POLICY made ON memories FOR INSERT WITH CHECK (owner = (SELECT uid()));
CREATE POLICY changed ON memories FOR UPDATE USING (owner = (SELECT uid()) OR rights(owner, id, tags, state) > 1);
-- Only work on the server's host removes a user with all rows. A request cannot delete these rows.
CREATE POLICY removed ON memories FOR DELETE TO CURRENT_USER USING (owner = (SELECT uid()));
CREATE POLICY own ON memory_shares USING (owner = (SELECT uid()));
CREATE POLICY granted ON memory_shares FOR SELECT USING (grantee = (SELECT uid()));
CREATE POLICY own ON tag_shares USING (owner = (SELECT uid()));
CREATE POLICY granted ON tag_shares FOR SELECT USING (grantee = (SELECT uid()));
CREATE POLICY own ON mutes USING (user_id = (SELECT uid()));
CREATE POLICY own ON user_seq USING (user_id = (SELECT uid()));
CREATE POLICY own ON checkpoints USING (user_id = (SELECT uid()));
CREATE POLICY own ON restores USING (user_id = (SELECT uid()));
CREATE POLICY own ON feed USING (user_id = (SELECT uid()));
CREATE POLICY own ON applied_ops USING (user_id = (SELECT uid()));
-- Only the owner can see secrets, even if the memory is shared.
CREATE POLICY own ON memory_secrets USING (owner = (SELECT uid()));
CREATE POLICY own ON vault_writes USING (owner = (SELECT uid()));
CREATE POLICY own ON vault_removals USING (owner = (SELECT uid()));
-- The owner of the tables may list the vault values that have no row yet or that must be deleted, but no value and no text.
CREATE POLICY listed ON vault_writes FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY listed ON vault_removals FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY own ON audit USING (user_id = (SELECT uid()));
CREATE POLICY own ON purges USING (owner = (SELECT uid()));
CREATE POLICY own ON fetched USING (user_id = (SELECT uid()));
CREATE POLICY own ON index_cache USING (user_id = (SELECT uid()));
-- One statement reads the keys of all waiting requests and the feed positions of their users. Two settings select these rows.
-- They are valid within the statement, and only for the role that connects.
CREATE POLICY asked ON api_keys FOR SELECT TO CURRENT_USER
    USING (key_id = ANY (string_to_array(current_setting('app.asked_keys', true), ',')));
CREATE POLICY asked ON user_seq FOR SELECT TO CURRENT_USER
    USING (user_id = ANY (string_to_array(current_setting('app.asked_users', true), ',')));
CREATE POLICY asked ON checkpoints FOR SELECT TO CURRENT_USER
    USING (user_id = ANY (string_to_array(current_setting('app.asked_users', true), ',')));

-- ------------------------------------------------------------------------------------------------------------- functions

-- Returns the user of a presented key, by the key's ID, in one statement.
CREATE FUNCTION presented_key(presented text)
    RETURNS TABLE (key_user text, key_hash bytea, key_scopes text[]) LANGUAGE plpgsql
    SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM set_config('app.key_id', presented, true);
    RETURN QUERY SELECT user_id, hash, scopes FROM api_keys
        WHERE key_id = presented AND revoked IS NULL AND (expires IS NULL OR expires > now());
    PERFORM set_config('app.key_id', '', true);
END $$;

-- Does the same for many keys, and returns the feed positions of their users. A key that is unknown, revoked or expired has no
-- user, and its look-up takes equally long.
CREATE FUNCTION presented_keys(presented text[])
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
            LEFT JOIN checkpoints m ON m.user_id = s.user_id AND m.seq = s.seq;
    PERFORM set_config('app.asked_keys', '', true), set_config('app.asked_users', '', true);
END $$;

-- Returns who can see a memory with these tags: its owner and, unless it is deleted, the users with whom it is shared. Only the
-- owner may read the shares, so the function acts as the owner during the query.
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

-- Returns who can see a memory in its current state.
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

-- Returns true if the user exists, because memories can be shared only with existing users.
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

-- Moves memories to the end of users' feeds. The arguments are users, with the owners and UUIDs of memories. Without a UUID, only
-- the user's counter increases, because an invitation changed. Users are processed in the order of their names, so that two
-- transactions cannot wait for each other.
CREATE FUNCTION notify_users(those text[], of_owners text[], of_memories uuid[]) RETURNS void LANGUAGE plpgsql
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
        -- If only some of the tables were restored, the checkpoints of later changes are not valid.
        INSERT INTO checkpoints (user_id, seq) VALUES (one, last) ON CONFLICT (user_id, seq) DO UPDATE SET stamp = DEFAULT;
        INSERT INTO feed (user_id, memory, owner, seq, short_id)
            SELECT one, what, whose, n, n FROM (
                SELECT whose, what, last - many + row_number() OVER (ORDER BY whose, what) AS n FROM (
                    SELECT DISTINCT whose, what FROM unnest(those, of_owners, of_memories) told (who, whose, what)
                    WHERE who = one AND what IS NOT NULL) those_of_one) numbered
            ON CONFLICT (user_id, owner, memory) DO UPDATE SET seq = excluded.seq;
    END LOOP;
    PERFORM set_config('app.user_id', caller, true);
END $$;

-- Begins a change of a memory, in one round trip. Registers the change; for a repeated change, returns its digest and rejection.
-- Otherwise returns the owners of the memories that the user knows by this UUID, the user first; the ID of the first memory; and
-- whether embeddings sent with a key are not used.
-- Until the transaction ends, the first owner's shares cannot change. So a user who can see the memory because of a new share or
-- of this change is notified by one of them.
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
        -- A process that distrusts the key waits for this transaction, and also drops the embeddings that it writes.
        SELECT k.distrusted IS NOT NULL INTO is_distrusted FROM api_keys k WHERE k.user_id = who AND k.key_id = with_key FOR SHARE;
        is_distrusted := coalesce(is_distrusted, true);
    END IF;
    RETURN NEXT;
END $$;

-- Returns who could see a memory before a change of its tags or state, and who can see it now.
CREATE FUNCTION seen_by(of_owner text, of_memory uuid, old_tags text[], was_live boolean)
    RETURNS TABLE (before text[], after text[]) LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    before := CASE WHEN old_tags IS NULL THEN '{}' ELSE sharers(of_owner, of_memory, old_tags, was_live) END;
    after := audience(of_owner, of_memory);
    RETURN NEXT;
END $$;

-- Ends a change of a memory, in one round trip: notifies all users who could see the memory or can see it now. Returns these
-- users, and the memory's position in the caller's own feed.
CREATE FUNCTION op_end(who text, of_owner text, about uuid, old_tags text[], was_live boolean)
    RETURNS TABLE (before text[], after text[], seq bigint) LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    those text[];
BEGIN
    SELECT s.before, s.after INTO before, after FROM seen_by(of_owner, about, old_tags, was_live) s;
    those := before || after;
    PERFORM notify_users(those, array_fill(of_owner, ARRAY[cardinality(those)]), array_fill(about, ARRAY[cardinality(those)]));
    SELECT max(f.seq) INTO seq FROM feed f WHERE f.user_id = who AND f.memory = about;
    RETURN NEXT;
END $$;

-- Stores the caller's answer to an invitation. Returns false if there is no invitation, or the answer has not changed.
CREATE FUNCTION answer_invitation(of_owner text, of_tag text, is_accepted boolean) RETURNS boolean LANGUAGE plpgsql
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

-- For each user who could see a memory that the caller deleted permanently: the number of machines, and how many of them have
-- received the deletion. A machine that has not asked for 90 days is not counted.
CREATE FUNCTION machines_informed(of_memory uuid) RETURNS TABLE (who text, machines bigint, confirmed bigint) LANGUAGE plpgsql
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

-- Stores an index of the caller if it contains all changes of the feed. The counter is locked meanwhile. So a permanently deleted
-- memory is either not in the index, or its deletion removes the index.
CREATE FUNCTION keep_index(of_form int, is_by_embedding boolean, at_epoch bigint, at_seq bigint, at_stamp bigint,
        until bigint, of_beside bytea, of_snapshot bytea) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM FROM user_seq WHERE user_id = uid() AND seq = at_seq FOR SHARE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM index_cache WHERE user_id = uid();
    INSERT INTO index_cache VALUES (uid(), of_form, is_by_embedding, at_epoch, at_seq, at_stamp, until, of_beside, of_snapshot);
    RETURN true;
END $$;

-- Deletes the stored indexes of users, because they contain words of permanently deleted memories.
CREATE FUNCTION drop_indexes(those text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    one    text;
BEGIN
    FOREACH one IN ARRAY those LOOP
        PERFORM set_config('app.user_id', one, true);
        DELETE FROM index_cache WHERE user_id = one;
    END LOOP;
    PERFORM set_config('app.user_id', caller, true);
END $$;

-- Returns the start of the oldest running transaction that writes, or the current time. All rows before this time are visible. The
-- application name shows a transaction that will write; a transaction that has written has a transaction ID.
CREATE FUNCTION unfinished_since() RETURNS timestamptz LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT least(now(), min(xact_start)) - interval '1 microsecond' FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND (application_name = 'tessera writes' OR backend_xid IS NOT NULL)
$$;

-- Returns memories that are shared with the caller and that have this short ID for their owner.
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

REVOKE ALL ON FUNCTION presented_key, presented_keys, sharers, audience, is_user, notify_users, op_begin, seen_by, op_end,
    answer_invitation, machines_informed,
    keep_index, drop_indexes, unfinished_since, shared_under, every_user FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO tessera_app;
GRANT EXECUTE ON FUNCTION uid, rights, sharers, audience, is_user, notify_users, op_begin, seen_by, op_end, answer_invitation,
    machines_informed, keep_index,
    drop_indexes, unfinished_since, shared_under TO tessera_app;
GRANT SELECT ON server_meta, restores, users, api_keys, memories, memory_shares, tag_shares, mutes, user_seq, checkpoints, feed,
    applied_ops, memory_secrets, vault_writes, vault_removals, purges, fetched, index_cache TO tessera_app;
GRANT INSERT ON memories, memory_shares, tag_shares, mutes, applied_ops, memory_secrets, vault_writes, vault_removals, audit,
    purges, fetched TO tessera_app;
GRANT UPDATE (rev, people_rev, content_rev, details_at, state, edited_by, content, tags, category, type, importance,
    importance_millionths, keywords, entities, links, scope, created, expires, owner_trust, origin, session, conflict_of, file,
    metadata,
    updated, summary, is_instruction, length, signature, forward, costs, passages, embedding, embedding_rev, embedding_key,
    embedding_check, related)
    ON memories TO tessera_app;
GRANT UPDATE (uses, used) ON feed TO tessera_app;
-- The digest of a change could reveal a secret by trying values. So it is emptied if a secret is found in the text later.
GRANT UPDATE (refused, hash) ON applied_ops TO tessera_app;
GRANT UPDATE (permission) ON memory_shares, tag_shares TO tessera_app;
GRANT UPDATE (distrusted) ON api_keys TO tessera_app;
GRANT UPDATE (kind, mark, sealed, place) ON memory_secrets TO tessera_app;
GRANT UPDATE (since) ON vault_writes, vault_removals TO tessera_app;
GRANT UPDATE (after, asked) ON fetched TO tessera_app;
GRANT DELETE ON memory_shares, tag_shares, mutes, memory_secrets, vault_writes, vault_removals, index_cache TO tessera_app;
