#!/bin/sh
# The role of the server. It owns the database and is not a superuser.
set -eu
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d postgres -v password="$SERVER_PASSWORD" <<'SQL'
CREATE ROLE server LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE tessera OWNER server;
SQL
