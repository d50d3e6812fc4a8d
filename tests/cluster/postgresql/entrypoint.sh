#!/bin/sh
# Runs PostgreSQL with TLS on port 5432. What the Pod provides:
#
#   /etc/postgresql/password   a Secret with the key `password`, the superuser's (`postgres`)
#   /etc/postgresql/tls        a Secret with the keys `tls.crt` and `tls.key`
#   /var/lib/postgresql        a writable volume for the data
#   /tmp                       a writable volume for the socket
#
# Arguments go to the server: `-c max_connections=10`.
set -eu
data=/var/lib/postgresql/data
if [ ! -s "$data/PG_VERSION" ]; then
    initdb --pgdata="$data" --username=postgres --pwfile=/etc/postgresql/password/password \
        --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 --no-sync --no-instructions
    echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
fi
# The server refuses a key that others may read, and a mounted Secret's mode is not ours to choose.
install -m 0600 /etc/postgresql/tls/tls.crt /etc/postgresql/tls/tls.key "$data/"
exec postgres -D "$data" -c listen_addresses='*' -c port=5432 -c unix_socket_directories=/tmp \
    -c ssl=on -c ssl_cert_file=tls.crt -c ssl_key_file=tls.key -c fsync=off "$@"
