#!/bin/sh
# The role that the server connects as: it owns its database, and is no superuser.
set -eu
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d postgres -v password="$SERVER_PASSWORD" <<'SQL'
CREATE ROLE server LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE tessera OWNER server;
SQL
