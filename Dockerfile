# The product's images. Nothing is compiled here: binaries and servers were built once, before, and come in as
# named build contexts:
#
#   binaries     the static binaries `ptah-operator` and `ptah-runner`
#   certs        `ca-certificates.crt`
#   pg14 … pg18  a PostgreSQL server each, with `bin`, `lib` and `share`; an empty folder leaves it out
#
#   docker build --target runner-postgresql --build-context binaries=… --build-context pg17=… …
#
# Every image runs with a read-only root file system and without capabilities; the manager as any user, the runner as
# 65532 and its scratch server as 65533.

FROM scratch AS manager
COPY --from=certs ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=binaries --chmod=0755 ptah-operator /usr/bin/ptah-operator
USER 65532:65532
ENTRYPOINT ["/usr/bin/ptah-operator"]

FROM debian:bookworm-slim AS runner-postgresql
# PostgreSQL's single-user mode, which gives a scratch server its password, wants its user to have a name.
RUN printf 'ptah:x:65532:65532::/:/usr/sbin/nologin\nptah-scratch:x:65533:65532::/:/usr/sbin/nologin\n' >> /etc/passwd
COPY --from=certs ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=pg14 . /usr/lib/postgresql/14
COPY --from=pg15 . /usr/lib/postgresql/15
COPY --from=pg16 . /usr/lib/postgresql/16
COPY --from=pg17 . /usr/lib/postgresql/17
COPY --from=pg18 . /usr/lib/postgresql/18
# A scratch server starts from a copy of a data folder that was made here, which saves the seconds of `initdb` at
# every plan. Its password is thrown away at once: whoever copies the folder sets one. `initdb` refuses to run as
# root and wants its user to have a name; the copy belongs to whoever makes it, so all may read it.
RUN set -eu; \
    find /usr/lib/postgresql -mindepth 1 -maxdepth 1 -type d -empty -delete; \
    for server in /usr/lib/postgresql/*; do \
        [ -x "$server/bin/initdb" ] || continue; \
        template="/usr/share/ptah/postgresql/${server##*/}/template"; \
        password="$(mktemp)"; \
        head -c 32 /dev/urandom | base64 > "$password"; \
        mkdir -p "$template"; \
        chown nobody "$template" "$password"; \
        setpriv --reuid=nobody --regid=nogroup --clear-groups \
            "$server/bin/initdb" --pgdata="$template" --username=ptah_scratch_admin --pwfile="$password" \
            --auth-local=scram-sha-256 --auth-host=reject --encoding=UTF8 --locale=C.UTF-8 \
            --wal-segsize=1 --no-sync --no-instructions; \
        rm "$password"; \
        chmod -R a+rX "$template"; \
    done
COPY --from=binaries --chmod=0755 ptah-runner /usr/bin/ptah-runner
USER 65532:65532
ENTRYPOINT ["/usr/bin/ptah-runner"]
