#!/bin/sh
# Makes Temporal's databases, or brings them to the schema of the tool that is
# run. May be repeated. The tool reads how to reach the database from SQL_…; the
# password is in the file SQL_PASSWORD_FILE.
set -eu

SQL_PASSWORD=$(cat "$SQL_PASSWORD_FILE")
export SQL_PASSWORD

prepare() {
	database=$1 schema=$2
	temporal-sql-tool --database "$database" create-database
	temporal-sql-tool --database "$database" setup-schema --version 0.0
	temporal-sql-tool --database "$database" update-schema --schema-name "$schema"
}

prepare temporal postgresql/v12/temporal
prepare temporal_visibility postgresql/v12/visibility
temporal-sql-tool --database temporal_visibility setup-schema --disable-versioning \
	--schema-file "$(dirname "$0")/visibility.postgresql.sql"
