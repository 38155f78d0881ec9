-- Directories of this machine that are known to be of a project, by what the person did: never told to a server.
CREATE TABLE places (
    path    TEXT NOT NULL,
    project TEXT NOT NULL,
    how     TEXT NOT NULL,            -- 'told': the person said so; 'made': a memory of the project was made there
    since   INTEGER NOT NULL,
    PRIMARY KEY (path, project)
) STRICT, WITHOUT ROWID;

INSERT INTO places (path, project, how, since)
    SELECT cwd, scope, 'made', min(created) FROM memories
    WHERE cwd IS NOT NULL AND scope <> 'global' AND deleted IS NULL AND purged = 0 AND shared_by IS NULL
        AND origin IN ('user', 'agent', 'auto_learn') AND trust <> 'foreign'
    GROUP BY cwd, scope;
