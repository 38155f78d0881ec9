-- Spreads the tables by user over the machines of a distributed PostgreSQL, where the extension citus is installed in
-- this database before the first migration; does nothing anywhere else. See docs/SCALING.md.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        RETURN;
    END IF;
    PERFORM create_reference_table('server_meta');
    PERFORM create_distributed_table('users', 'user_id');
    PERFORM create_distributed_table('api_keys', 'user_id', colocate_with => 'users');
    PERFORM create_distributed_table('memories', 'owner', colocate_with => 'users');
    PERFORM create_distributed_table('memory_shares', 'owner', colocate_with => 'users');
    PERFORM create_distributed_table('tag_shares', 'owner', colocate_with => 'users');
    PERFORM create_distributed_table('mutes', 'user_id', colocate_with => 'users');
    PERFORM create_distributed_table('user_seq', 'user_id', colocate_with => 'users');
    PERFORM create_distributed_table('feed', 'user_id', colocate_with => 'users');
    PERFORM create_distributed_table('applied_ops', 'user_id', colocate_with => 'users');
    PERFORM create_distributed_table('restores', 'user_id', colocate_with => 'users');
END $$;
