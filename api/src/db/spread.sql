-- Changes a database that Citus distributes over several machines. It runs after the migrations and can be repeated. Machines
-- with rows know the user from `SET LOCAL app.user_id`, which Citus forwards; it does not forward `set_config`. The policies and
-- functions here are made from those of the migrations, so that nothing is written twice.

-- Sets the user for a statement, a function or a transaction.
CREATE OR REPLACE FUNCTION act_as(who text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET LOCAL app.user_id = %L', coalesce(who, ''));
    RETURN who;
END $$;
REVOKE ALL ON FUNCTION act_as FROM PUBLIC;
GRANT EXECUTE ON FUNCTION act_as TO tessera_app;

-- Citus does not support subqueries in policies. Without a subquery, the user is looked up for each row.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT tablename, policyname, qual, with_check FROM pg_policies
        WHERE schemaname = 'public' AND concat(qual, with_check) LIKE '%( SELECT uid() AS uid)%' LOOP
        IF one.qual IS NOT NULL THEN
            EXECUTE format('ALTER POLICY %I ON public.%I USING (%s)', one.policyname, one.tablename,
                replace(one.qual, '( SELECT uid() AS uid)', 'uid()'));
        END IF;
        IF one.with_check IS NOT NULL THEN
            EXECUTE format('ALTER POLICY %I ON public.%I WITH CHECK (%s)', one.policyname, one.tablename,
                replace(one.with_check, '( SELECT uid() AS uid)', 'uid()'));
        END IF;
    END LOOP;
END $$;

-- The rights on another user's memory are looked up on the machine of the memory. Its shares are on the same machine, and shares
-- of tags and hidden memories are on every machine. So the inner query never leaves its machine.
DO $$
DECLARE
    body text := substring(pg_get_functiondef('rights(text,uuid,text[],text)'::regprocedure) FROM 'BEGIN ATOMIC(.*);\s*END\s*$');
BEGIN
    IF body IS NOT NULL THEN
        EXECUTE format('CREATE OR REPLACE FUNCTION rights(of_owner text, of_memory uuid, of_tags text[], of_state text)
            RETURNS int LANGUAGE plpgsql STABLE SET search_path = public, pg_temp
            SET citus.allow_nested_distributed_execution = on AS %L', format('BEGIN RETURN (%s); END', body));
    END IF;
END $$;

-- The functions that act for other users run with the caller's rights. Otherwise the owner of the tables would write on its own
-- connection, and the caller could not see the rows before the transaction ends. A value that every machine would compute is
-- computed once.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = 'public' AND p.prosrc LIKE '%set\_config(''app.user\_id''%' LOOP
        EXECUTE regexp_replace(replace(replace(pg_get_functiondef(one.oid),
            ' SECURITY DEFINER', ''),
            'SET stamp = DEFAULT', 'SET stamp = excluded.stamp'),
            'set_config\(''app\.user_id'', (.*?), true\)', 'act_as(\1)', 'g');
    END LOOP;
END $$;
GRANT INSERT, UPDATE ON user_seq, checkpoints TO tessera_app;
GRANT INSERT, UPDATE (seq) ON feed TO tessera_app;
GRANT UPDATE (status) ON tag_shares TO tessera_app;
-- A change of a key locks its user's row on every machine, and Citus requires this right for it. The policy limits it to the
-- user's own row.
GRANT UPDATE ON users TO tessera_app;
