-- What a database that is spread over several machines by Citus has otherwise; done after the migrations, as often as one
-- likes. Machines that hold rows know whose they are asked for by `SET LOCAL app.user_id`, which Citus carries to them: it
-- does not carry `set_config`. What stands here of policies and functions is made of those that the migrations left, so
-- that nothing is said twice.

-- For the time of a statement, of a function or of the transaction: this user.
CREATE OR REPLACE FUNCTION act_as(who text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET LOCAL app.user_id = %L', coalesce(who, ''));
    RETURN who;
END $$;
REVOKE ALL ON FUNCTION act_as FROM PUBLIC;
GRANT EXECUTE ON FUNCTION act_as TO tessera_app;

-- Citus knows no subqueries in policies. Without one the user is asked for each row that is looked at.
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

-- What a user may do with a memory of another is looked up where the memory is: its shares lie beside it, and what is shared by
-- tags and what is muted lies on every machine. So the query within the query never leaves its machine.
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

-- Functions act for others with their caller's rights: what the owner of the tables wrote on a connection of its own, the
-- caller's could not see before the transaction ends. And a value that every machine would make for itself is made once.
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
GRANT INSERT, UPDATE ON user_seq, marks TO tessera_app;
GRANT INSERT, UPDATE (seq) ON feed TO tessera_app;
GRANT UPDATE (status) ON tag_shares TO tessera_app;
-- Whoever changes a key locks its user's row on every machine, for which Citus asks for this. Of their own row, by the policy.
GRANT UPDATE ON users TO tessera_app;
