-- Credentials that were taken out of texts, who did what that somebody may ask about later, and which machines have heard
-- of what was removed for good.

-- A random value of this database, of which with a passphrase a key is made; and the id of the key that seals here.
ALTER TABLE server_meta ADD COLUMN secret_salt bytea NOT NULL
    DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
ALTER TABLE server_meta ADD COLUMN secret_key text;

-- By the name that the text has in the place of the value. Encrypted for its owner and memory, or in a vault.
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

-- What was put into a vault for a row that is not there yet, and what is to leave it with a row that is gone.
CREATE TABLE vault_writes (
    owner  text NOT NULL,
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

-- What was removed for good, and who saw it then.
CREATE TABLE purges (
    owner  text NOT NULL,
    memory uuid NOT NULL,
    at     timestamptz NOT NULL DEFAULT now(),
    told   text[] NOT NULL,
    PRIMARY KEY (owner, memory)
);
-- How far each machine of a user has taken the news: it asks for what comes after.
CREATE TABLE fetched (
    user_id text NOT NULL,
    key_id  text NOT NULL,
    machine text NOT NULL,
    after   bigint NOT NULL,
    asked   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key_id, machine)
);

ALTER TABLE memory_secrets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE vault_writes   ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE vault_removals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE audit          ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE purges         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE fetched        ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- Its owner alone, however a memory is shared.
CREATE POLICY own ON memory_secrets USING (owner = (SELECT uid()));
CREATE POLICY own ON vault_writes   USING (owner = (SELECT uid()));
CREATE POLICY own ON vault_removals USING (owner = (SELECT uid()));
CREATE POLICY own ON audit          USING (user_id = (SELECT uid()));
CREATE POLICY own ON purges         USING (owner = (SELECT uid()));
CREATE POLICY own ON fetched        USING (user_id = (SELECT uid()));

-- The digest of an op of before could tell a value that stood in it, by trying: it is emptied with the rows.
GRANT UPDATE (hash) ON applied_ops TO tessera_app;
GRANT SELECT, INSERT, DELETE ON memory_secrets, vault_writes, vault_removals TO tessera_app;
GRANT UPDATE (kind, mark, sealed, place) ON memory_secrets TO tessera_app;
GRANT UPDATE (since) ON vault_writes, vault_removals TO tessera_app;
GRANT INSERT ON audit TO tessera_app;
GRANT SELECT, INSERT ON purges, fetched TO tessera_app;
GRANT UPDATE (after, asked) ON fetched TO tessera_app;

-- Of those who saw what the caller removed for good: how many machines of theirs ask for news, and how many have asked
-- for what comes after the removal. A machine that has not asked for 90 days is not counted.
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
REVOKE ALL ON FUNCTION heard FROM PUBLIC;
GRANT EXECUTE ON FUNCTION heard TO tessera_app;

DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        PERFORM create_distributed_table('memory_secrets', 'owner', colocate_with => 'users');
        PERFORM create_distributed_table('vault_writes', 'owner', colocate_with => 'users');
        PERFORM create_distributed_table('vault_removals', 'owner', colocate_with => 'users');
        PERFORM create_distributed_table('audit', 'user_id', colocate_with => 'users');
        PERFORM create_distributed_table('purges', 'owner', colocate_with => 'users');
        PERFORM create_distributed_table('fetched', 'user_id', colocate_with => 'users');
    END IF;
END $$;
