-- The first schema of the team server. A shipped migration is never edited.
--
-- Every table with data of users begins its key with the user, so that all of it can be spread by user over
-- several machines; no key and no sequence crosses users. Rows are guarded by policies that are forced on the
-- owner of the tables too; a transaction says for whom it is by `app.user_id`. The server's requests run as
-- `tessera_app`, which owns nothing and may change no owner.

DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tessera_app') THEN
        CREATE ROLE tessera_app NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT;
    END IF;
    EXECUTE format('GRANT tessera_app TO %I', current_user);
END $$;

CREATE FUNCTION uid() RETURNS text LANGUAGE sql STABLE
    RETURN nullif(current_setting('app.user_id', true), '');

-- One row: what this database is. A restore from a backup begins a new epoch.
CREATE TABLE server_meta (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch    bigint NOT NULL DEFAULT 1
);
INSERT INTO server_meta DEFAULT VALUES;

-- For each epoch that a restore began: how far a user's changes were kept.
CREATE TABLE restores (
    user_id text NOT NULL,
    epoch   bigint NOT NULL,
    seq     bigint NOT NULL,
    PRIMARY KEY (user_id, epoch)
);

CREATE TABLE users (
    user_id text PRIMARY KEY CHECK (user_id ~ '^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$'),
    created timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    user_id   text NOT NULL REFERENCES users ON DELETE CASCADE,
    key_id    text NOT NULL,
    hash      bytea NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the secret, which is random
    label     text NOT NULL,
    scopes    text[] NOT NULL,
    created   timestamptz NOT NULL DEFAULT now(),
    expires   timestamptz,
    revoked   timestamptz,
    PRIMARY KEY (user_id, key_id)
);
CREATE INDEX api_keys_key ON api_keys (key_id);

CREATE TABLE memories (
    owner       text NOT NULL,
    id          uuid NOT NULL,
    rev         bigint NOT NULL CHECK (rev > 0),
    content_rev bigint NOT NULL,
    details_at  bigint NOT NULL,          -- microseconds since 1970, a machine's time
    state       text NOT NULL CHECK (state IN ('live', 'deleted', 'purged')),
    content     text NOT NULL,            -- empty once purged, like everything below
    tags        text[] NOT NULL,
    category    text NOT NULL,
    type        text NOT NULL,
    importance  smallint NOT NULL CHECK (importance BETWEEN 0 AND 100),
    keywords    text[] NOT NULL,
    entities    text[] NOT NULL,
    links       text[] NOT NULL,          -- type:id
    scope       text NOT NULL,
    created     bigint NOT NULL,
    expires     bigint,
    origin      text NOT NULL,
    session     text,
    conflict_of uuid,
    updated     bigint NOT NULL,          -- the server's time
    -- What recall needs, made from the above when it is written.
    summary     text NOT NULL,
    standing    boolean NOT NULL,
    length      int NOT NULL,
    signature   bigint NOT NULL,
    forward     bytea NOT NULL,           -- forward blob, without the words around it; empty unless live
    costs       int[] NOT NULL,           -- tokens of: full line, index line, and both as JSON, with a handle of one token
    passages    bytea NOT NULL,
    PRIMARY KEY (owner, id)
);
CREATE INDEX memories_tags ON memories USING gin (tags);

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

CREATE TABLE tag_shares (
    owner      text NOT NULL,
    tag        text NOT NULL,
    grantee    text NOT NULL,
    permission text NOT NULL CHECK (permission IN ('read', 'write')),
    created    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, tag, grantee),
    CHECK (owner <> grantee)
);
CREATE INDEX tag_shares_grantee ON tag_shares (grantee, owner, tag);

-- Memories, or with the nil id all memories, of an owner that a user does not want to see.
CREATE TABLE mutes (
    user_id text NOT NULL,
    owner   text NOT NULL,
    memory  uuid NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, owner, memory)
);

-- Each user's counter of changes: a row, bumped last in a transaction and locked until its end, so that
-- nothing with a smaller number can become visible later.
CREATE TABLE user_seq (
    user_id text PRIMARY KEY,
    seq     bigint NOT NULL
);

-- What changed for a user: one row a memory, moved to the end by every change. The handle is the short number
-- that the memory has for this user: where it first stood. What a user has used is theirs as well.
CREATE TABLE feed (
    user_id text NOT NULL,
    memory  uuid NOT NULL,
    owner   text NOT NULL,
    seq     bigint NOT NULL,
    handle  bigint NOT NULL,
    uses    int NOT NULL DEFAULT 0,
    used    bigint,
    PRIMARY KEY (user_id, memory)
);
CREATE UNIQUE INDEX feed_seq ON feed (user_id, seq);
CREATE UNIQUE INDEX feed_handle ON feed (user_id, handle);

-- Ops that were carried out: a retry is a replay.
CREATE TABLE applied_ops (
    user_id text NOT NULL,
    op_id   uuid NOT NULL,
    hash    bytea NOT NULL,
    refused text,
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, op_id)
);

-- Whose a key is: of one that was presented, by its id alone, in one statement.
CREATE FUNCTION presented_key(presented text)
    RETURNS TABLE (key_user text, key_hash bytea, key_scopes text[]) LANGUAGE plpgsql
    SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM set_config('app.key_id', presented, true);
    RETURN QUERY SELECT user_id, hash, scopes FROM api_keys
        WHERE key_id = presented AND revoked IS NULL AND (expires IS NULL OR expires > now());
    PERFORM set_config('app.key_id', '', true);
END $$;

-- What a user may do with a memory: 0 nothing, 1 read, 2 write, 3 everything. A direct share is final.
CREATE FUNCTION rights(of_owner text, of_memory uuid, of_tags text[]) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN of_owner = uid() THEN 3
        WHEN EXISTS (SELECT FROM mutes WHERE user_id = uid() AND owner = of_owner
                     AND memory IN (of_memory, '00000000-0000-0000-0000-000000000000')) THEN 0
        ELSE coalesce(
            (SELECT CASE permission WHEN 'write' THEN 2 ELSE 1 END FROM memory_shares
             WHERE owner = of_owner AND memory = of_memory AND grantee = uid()),
            (SELECT max(CASE permission WHEN 'write' THEN 2 ELSE 1 END) FROM tag_shares
             WHERE owner = of_owner AND tag = ANY (of_tags) AND grantee = uid()),
            0)
    END
$$;

ALTER TABLE users         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys      ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memories      ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_shares ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE tag_shares    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE mutes         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE user_seq      ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE restores      ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE feed          ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE applied_ops   ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY own ON users USING (user_id = (SELECT uid()));
-- Work on the server's host goes through all users: the owner of the tables may list their names, a request not.
CREATE POLICY listed ON users FOR SELECT TO CURRENT_USER USING (true);
-- A key is looked up before it is known whose it is: by its id alone.
CREATE POLICY own ON api_keys USING (user_id = (SELECT uid()));
CREATE POLICY presented ON api_keys FOR SELECT USING (key_id = nullif(current_setting('app.key_id', true), ''));
CREATE POLICY seen ON memories FOR SELECT USING (owner = (SELECT uid()) OR rights(owner, id, tags) > 0);
CREATE POLICY made ON memories FOR INSERT WITH CHECK (owner = (SELECT uid()));
CREATE POLICY changed ON memories FOR UPDATE USING (owner = (SELECT uid()) OR rights(owner, id, tags) > 1);
CREATE POLICY own ON memory_shares USING (owner = (SELECT uid()));
CREATE POLICY granted ON memory_shares FOR SELECT USING (grantee = (SELECT uid()));
CREATE POLICY own ON tag_shares USING (owner = (SELECT uid()));
CREATE POLICY granted ON tag_shares FOR SELECT USING (grantee = (SELECT uid()));
CREATE POLICY own ON mutes USING (user_id = (SELECT uid()));
CREATE POLICY own ON user_seq USING (user_id = (SELECT uid()));
CREATE POLICY own ON restores USING (user_id = (SELECT uid()));
CREATE POLICY own ON feed USING (user_id = (SELECT uid()));
CREATE POLICY own ON applied_ops USING (user_id = (SELECT uid()));

-- Who sees a memory. Only its owner may read its shares: for the length of the query, this is the owner.
CREATE FUNCTION audience(of_owner text, of_memory uuid) RETURNS text[] LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    found  text[];
BEGIN
    PERFORM set_config('app.user_id', of_owner, true);
    SELECT array_agg(DISTINCT who) INTO found FROM (
        SELECT of_owner AS who
        UNION ALL SELECT grantee FROM memory_shares WHERE owner = of_owner AND memory = of_memory
        UNION ALL SELECT s.grantee FROM memories m JOIN tag_shares s ON s.owner = m.owner AND s.tag = ANY (m.tags)
            WHERE m.owner = of_owner AND m.id = of_memory
    ) everyone;
    PERFORM set_config('app.user_id', caller, true);
    RETURN found;
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

-- Moves memories to the end of feeds: users, and the owners and ids of memories. What is a user's own is not
-- displaced by what somebody else calls by the same id. All users of a transaction at once and in
-- the order of their names, so that no two transactions wait for each other.
CREATE FUNCTION tell(those text[], of_owners text[], of_memories uuid[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
DECLARE
    caller text := current_setting('app.user_id', true);
    one    record;
    next   bigint;
BEGIN
    FOR one IN SELECT DISTINCT who, whose, what FROM unnest(those, of_owners, of_memories) told (who, whose, what)
        ORDER BY who, whose, what LOOP
        PERFORM set_config('app.user_id', one.who, true);
        INSERT INTO user_seq VALUES (one.who, 1) ON CONFLICT (user_id) DO UPDATE SET seq = user_seq.seq + 1
            RETURNING seq INTO next;
        INSERT INTO feed (user_id, memory, owner, seq, handle) VALUES (one.who, one.what, one.whose, next, next)
            ON CONFLICT (user_id, memory) DO UPDATE
            SET seq = next, owner = CASE WHEN feed.owner = feed.user_id THEN feed.owner ELSE one.whose END;
    END LOOP;
    PERFORM set_config('app.user_id', caller, true);
END $$;

CREATE FUNCTION every_user() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT user_id FROM users ORDER BY 1';

REVOKE ALL ON FUNCTION audience, tell, is_user, every_user, presented_key FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO tessera_app;
GRANT EXECUTE ON FUNCTION audience, tell, is_user, rights, uid TO tessera_app;
GRANT SELECT ON server_meta, restores, users, api_keys, memories, memory_shares, tag_shares, mutes, user_seq, feed, applied_ops TO tessera_app;
GRANT INSERT ON memories, memory_shares, tag_shares, mutes, applied_ops TO tessera_app;
GRANT UPDATE (rev, content_rev, details_at, state, content, tags, category, type, importance, keywords, entities, links, scope,
    created, expires, origin, session, conflict_of, updated, summary, standing, length, signature, forward, costs, passages)
    ON memories TO tessera_app;
GRANT UPDATE (uses, used) ON feed TO tessera_app;
GRANT UPDATE (refused) ON applied_ops TO tessera_app;
GRANT UPDATE (permission) ON memory_shares, tag_shares TO tessera_app;
GRANT DELETE ON memory_shares, tag_shares, mutes TO tessera_app;
