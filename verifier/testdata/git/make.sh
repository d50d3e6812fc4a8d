#!/bin/bash
# Makes the keys and objects of this folder with git, gpg and ssh-keygen (and edit.py for what those do not make). It was run
# with git 2.39.5, gpg 2.2.40, OpenSSH 9.2p1 and Python 3 with `cryptography`. Every run makes other keys: run it whole, and
# `oracle.sh` after it. Times are fixed: keys are of 2020, signatures of 2024, unless their names say otherwise.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
edit() { python3 "$here/edit.py" "$@"; }
rm -rf objects keys && mkdir objects keys
: > objects.txt
work=$(mktemp -d) && trap 'gpgconf --homedir "$GNUPGHOME" --kill all; rm -rf "$work"' EXIT
export GNUPGHOME=$work/gnupg TZ=UTC GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
mkdir -m 700 "$GNUPGHOME"

# gpg at a time, for git. GPG_EXTRA goes before what git says.
cat > "$work/gpg" <<'X'
#!/bin/bash
exec gpg --batch --quiet --no-tty --pinentry-mode loopback --passphrase '' --faked-system-time "${GPG_TIME}!" ${GPG_EXTRA:-} "$@"
X
# ssh-keygen in another namespace, where SSH_NAMESPACE says so.
cat > "$work/ssh-keygen" <<'X'
#!/bin/bash
for argument; do shift; [ "$argument" = git ] && argument=${SSH_NAMESPACE:-git}; set -- "$@" "$argument"; done
exec ssh-keygen "$@"
X
chmod +x "$work/gpg" "$work/ssh-keygen"
at() { GPG_TIME=$1T120000; shift; GPG_TIME=$GPG_TIME "$work/gpg" "$@"; }
export_key() { gpg --batch --armor --export "$2" > "keys/$1.asc"; }
fingerprint() { gpg --batch --with-colons --list-keys "$1" | awk -F: '$1 == "fpr" { print $10 }' | sed -n "${2:-1}p"; }
edit_key() { printf '%s\n' "$4" | at "$1" --command-fd 0 --no-batch --expert ${GPG_EXTRA:-} --edit-key "$2" > "$work/edit-$3.log" 2>&1; }

key() { # name algorithm usage expiry
  at 20200101 ${5:-} --quick-gen-key "${1^} <$1@example.com>" "$2" "$3" "$4"
}
key alice ed25519 sign 0
key bob rsa3072 sign 0
key carol ed25519 cert 0
at 20200101 --quick-add-key "$(fingerprint carol@)" ed25519 sign 0
at 20200101 --quick-add-key "$(fingerprint carol@)" cv25519 encr 0
key dora ed25519 sign 2023-01-01
key extended ed25519 sign 2023-01-01
key superseded ed25519 sign 0
key compromised ed25519 sign 0
key noreason ed25519 sign 0
key small rsa1024 sign 0
key dsa dsa2048 sign 0
key nist nistp256 sign 0
key secp256k1 secp256k1 sign 0
key brainpool brainpoolP256r1 sign 0
key sha1self rsa2048 sign 0 "--cert-digest-algo SHA1"
key md5self rsa2048 sign 0 "--cert-digest-algo MD5 --allow-weak-digest-algos"
key changed rsa2048 cert 0
at 20200101 --quick-add-key "$(fingerprint changed@)" rsa2048 sign 0
key subexpired ed25519 cert 0
at 20200101 --quick-add-key "$(fingerprint subexpired@)" ed25519 sign 2023-01-01
key subrevoked ed25519 cert 0
at 20200101 --quick-add-key "$(fingerprint subrevoked@)" ed25519 sign 0
key primaryexpired ed25519 cert 2023-01-01
at 20200101 --quick-add-key "$(fingerprint primaryexpired@)" ed25519 sign 0
key gone ed25519 sign 0
key revocable ed25519 sign 0
key certifying ed25519 sign 0
key smallsub rsa2048 cert 0
at 20200101 --quick-add-key "$(fingerprint smallsub@)" rsa1024 sign 0
at 20200101 --quick-gen-key 'GitHub <noreply@github.com>' rsa2048 sign 0
at 20200101 --quick-gen-key 'Zoë Ünïcode <zoë@exämple.com>' ed25519 sign 0
for name in alice bob carol smallsub dora superseded compromised noreason small dsa nist secp256k1 brainpool sha1self md5self changed subexpired subrevoked primaryexpired extended; do
  export_key "$name" "$name@example.com"
done
export_key web noreply@github.com
export_key zoe 'zoë@exämple.com'

repo() { # folder format
  git init -q --object-format="$2" "$work/$1"
  git -C "$work/$1" config gpg.program "$work/gpg"
  git -C "$work/$1" config gpg.ssh.program "$work/ssh-keygen"
}
repo sha1 sha1
repo sha256 sha256
in=sha1
save() { # name type, from stdin: into the repository, the folder and the list
  cat > "objects/$1"
  local id
  id=$(git -C "$work/$in" hash-object -t "$2" -w --literally --stdin < "objects/$1")
  echo "$1 $2 $id" >> objects.txt
}
take() { # name type object
  git -C "$work/$in" cat-file "$2" "$3" | save "$1" "$2"
}
as() { # date name address: whose work it is
  export GPG_TIME=$1T120000
  export GIT_AUTHOR_DATE="${1}T12:00:00 +0000" GIT_COMMITTER_DATE="${1}T12:00:00 +0000"
  export GIT_AUTHOR_NAME=$2 GIT_COMMITTER_NAME=$2 GIT_AUTHOR_EMAIL=$3 GIT_COMMITTER_EMAIL=$3
}
commit() { # object key date [git options]; SIGNER is name and address
  local name=$1 signing=$2 date=$3; shift 3
  as "$date" "${WHO:-${signing^}}" "${MAIL:-$signing@example.com}"
  git -C "$work/$in" commit -q --allow-empty -S"${USE:-$MAIL_KEY}" -m "${MESSAGE:-A change: $name}" "$@"
  take "$name" commit HEAD
}
pgp() { MAIL_KEY="${USE:-$2@example.com}" commit "$@"; }

pgp alice alice 20240101
MESSAGE=$'Another change\n\nOf two paragraphs,\nand a list of names:\n\n- zoë\n- Ünïcode' pgp alice-other alice 20240102
pgp bob bob 20240101
pgp carol carol 20240101
pgp dora-before dora 20220101
# gpg does not sign with an expired key; it does with one whose expiry was taken away, of which only the old form is given.
at 20220101 --quick-set-expire "$(fingerprint dora@)" 0
pgp dora-after dora 20240101
at 20220601 --quick-set-expire "$(fingerprint extended@)" 2030-01-01
export_key extended-later extended@example.com
pgp extended extended 20240101
pgp superseded-before superseded 20210101
pgp superseded-after superseded 20240101
pgp compromised-before compromised 20210101
pgp noreason-before noreason 20210101
pgp gone gone 20240101
pgp revocable-before revocable 20210601
pgp certifying certifying 20240101
pgp smallsub smallsub 20240101
pgp small small 20240101
pgp dsa dsa 20240101
pgp nist nist 20240101
pgp sha1self sha1self 20240101
GPG_EXTRA='--allow-weak-digest-algos' pgp md5self md5self 20240101
pgp changed changed 20240101
pgp subexpired-before subexpired 20220101
pgp subrevoked-before subrevoked 20210101
pgp subrevoked-after subrevoked 20240101
pgp primaryexpired-before primaryexpired 20220101
WHO='Zoë Ünïcode' MAIL='zoë@exämple.com' USE='zoë@exämple.com' pgp zoe zoe 20240101
# By the hosting service's key, for whoever has an account there.
WHO=GitHub MAIL=noreply@github.com USE=noreply@github.com pgp web web 20240101
WHO=Mallory MAIL=mallory@example.com USE=noreply@github.com pgp web-mallory web 20240101
WHO=Alice MAIL=alice@example.com USE=bob@example.com pgp bob-as-alice alice 20240101
GPG_EXTRA='--digest-algo SHA1' pgp hash-sha1 bob 20240101
GPG_EXTRA='--digest-algo RIPEMD160' pgp hash-ripemd bob 20240101
GPG_EXTRA='--digest-algo MD5 --allow-weak-digest-algos' pgp hash-md5 bob 20240101
GPG_EXTRA='--digest-algo SHA384' pgp hash-sha384 bob 20240101
GPG_EXTRA='--textmode' pgp textmode alice 20240101
GPG_EXTRA='--default-sig-expire 20240201T000000' pgp sig-expires alice 20240101
GPG_EXTRA='--sig-notation !bound@example.com=yes' pgp critical alice 20240101
GPG_EXTRA='--sig-notation free@example.com=yes' pgp notation alice 20240101
GPG_EXTRA='--comment Some-comment --emit-version' pgp comment alice 20240101
GPG_EXTRA='-u bob@example.com' pgp two-signers alice 20240101
pgp future alice 20350101
as 20240101 Alice alice@example.com
git -C "$work/sha1" commit -q --allow-empty --no-gpg-sign -m 'Nobody signed this'
take unsigned commit HEAD
git -C "$work/sha1" cat-file commit HEAD > "$work/plain"
MESSAGE=$'A line\r\nand another\r\n' pgp crlf alice 20240101 --cleanup=verbatim
MESSAGE='No line feed at the end' pgp no-newline alice 20240101 --cleanup=verbatim
edit crlf < objects/alice | save crlf-made commit
edit chop < objects/alice | save chopped commit
edit replace 'A change' 'a change' < objects/alice | save altered-message commit
edit replace 'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904' 'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4905' < objects/alice | save altered-tree commit
edit flip-signature < objects/alice | save altered-signature commit
edit wrong-prefix < objects/alice | save wrong-prefix commit
edit with-signature-of objects/alice-other < objects/alice | save moved-signature commit
edit strip-signature < objects/alice | save stripped commit
edit twice < objects/alice | save two-headers commit
edit after-armor 'and then some' < objects/alice | save after-armor commit
edit after-armor '' < objects/alice | save blank-after-armor commit
edit replace '\ncommitter' '\ncommitter Mallory <mallory@example.com> 1704110400 +0000\ncommitter' < objects/alice | save two-committers commit
edit replace 'Alice <alice@example.com> 1704110400 +0000\ngpgsig' 'Alice <alice@example.com> <mallory@example.com> 1704110400 +0000\ngpgsig' < objects/alice | save two-addresses commit
edit replace '\ngpgsig' '\n odd\ngpgsig' < objects/alice | save odd-continuation commit
edit replace '\ngpgsig' '\ngpgsig-sha512 no\ngpgsig' < objects/alice | save other-header commit
edit replace '\ngpgsig' '\ngpgsig-sha256 anything\n at all\ngpgsig' < objects/alice | save other-hash-header commit
edit replace '\ngpgsig' '\nchange-id abc\ngpgsig' < objects/alice | save inserted-header commit
edit append '\\0and more' < objects/alice | edit replace '\\0' '\x00' | save nul commit
cat > "$work/x509" <<'X'
-----BEGIN SIGNED MESSAGE-----
MIIEAwYJKoZIhvcNAQcCoIID9DCCA/ACAQExDTALBglghkgBZQMEAgEwCwYJKoZI
-----END SIGNED MESSAGE-----
X
edit with-armor "$work/x509" < "$work/plain" | save x509 commit
printf -- '-----BEGIN PGP MESSAGE-----\n\nowEBAAD=\n-----END PGP MESSAGE-----\n' > "$work/message"
edit with-armor "$work/message" < "$work/plain" | save pgp-message commit
printf 'anything\n' > "$work/anything"
edit with-armor "$work/anything" < "$work/plain" | save no-armor commit
# A signature of exactly this payload, in its message, and in a merged tag.
GPG_TIME=20240101T120000 "$work/gpg" -bsau alice@example.com < "$work/plain" > "$work/armor"
{ cat "$work/plain"; cat "$work/armor"; } | save in-message commit
edit with-armor "$work/armor" mergetag < "$work/plain" | save in-mergetag commit
edit with-armor "$work/armor" < "$work/plain" | save detached commit
edit with-armor "$work/armor" gpgsig-sha256 < "$work/plain" | save wrong-hash-header commit

# Somebody's author line of old, in a commit that was signed like that.
sed 's/^author .*/author Alice <alice@example.com> <> 1704110400 +0000/' "$work/plain" > "$work/odd"
GPG_TIME=20240101T120000 "$work/gpg" -bsau alice@example.com < "$work/odd" > "$work/odd-armor"
edit with-armor "$work/odd-armor" < "$work/odd" | save odd-author commit

# Tags of signed and unsigned commits.
tag() { # object key date name target [git options]
  local name=$1 signing=$2 date=$3 called=$4 target=$5; shift 5
  as "$date" "${WHO:-${signing^}}" "${MAIL:-$signing@example.com}"
  git -C "$work/$in" tag "$@" -m "${MESSAGE:-Release $called}" "$called" "$target"
  take "$name" tag "refs/tags/$called"
}
object() { awk -v name="$1" '$1 == name { print $3 }' objects.txt; }
tag tag-alice alice 20240101 v1 "$(object alice)" -u alice@example.com
tag tag-bob bob 20240101 v1-bob "$(object alice)" -u bob@example.com
tag tag-unsigned-of-signed alice 20240101 v2 "$(object alice)" -a --no-sign
tag tag-signed-of-unsigned alice 20240101 v3 "$(object unsigned)" -u alice@example.com
tag tag-outer-signed alice 20240101 outer "$(object tag-unsigned-of-signed)" -u alice@example.com
tag tag-outer-unsigned alice 20240101 outer-unsigned "$(object tag-alice)" -a --no-sign
MESSAGE=$'Release\r\nof lines\r\n' tag tag-crlf alice 20240101 v4 "$(object alice)" -u alice@example.com --cleanup=verbatim
tag tag-tree alice 20240101 v5 "$(object alice)^{tree}" -u alice@example.com
WHO='Zoë Ünïcode' MAIL='zoë@exämple.com' tag tag-zoe zoe 20240101 v-zoë "$(object zoe)" -u 'zoë@exämple.com'
edit replace 'tag v1' 'tag v9' < objects/tag-alice | save tag-renamed-inside tag
edit append 'and then some\n' < objects/tag-alice | save tag-after-armor tag
edit flip-signature < objects/tag-alice | save tag-altered-signature tag
edit replace '\n\nRelease' '\ngpgsig anything\n\nRelease' < objects/tag-alice | save tag-own-header tag
edit replace '\n\nRelease' '\ngpgsig-sha256 anything\n\nRelease' < objects/tag-alice | save tag-other-hash-header tag
{ git -C "$work/sha1" cat-file tag v1 | sed '/^-----BEGIN/,$d'; cat "$work/armor"; sed -n '/^-----BEGIN/,$p' objects/tag-alice; } | save tag-two-armors tag
sed '/^tagger/d; /^-----BEGIN/,$d' objects/tag-alice > "$work/no-tagger"
{ cat "$work/no-tagger"; GPG_TIME=20240101T120000 "$work/gpg" -bsau alice@example.com < "$work/no-tagger"; } | save tag-no-tagger tag

# SHA-256 repository.
in=sha256
pgp sha256-alice alice 20240101
tag sha256-tag alice 20240101 v1 HEAD -u alice@example.com
edit replace 'A change' 'a change' < objects/sha256-alice | save sha256-altered commit
edit replace 'gpgsig-sha256' 'gpgsig' < objects/sha256-alice | save sha256-wrong-header commit
in=sha1

# What happened to keys after they signed.
revoke() { edit_key 20220101 "$1@example.com" "$1" "$(printf 'revkey\ny\n%s\n\ny\nsave' "$2")"; export_key "$1-revoked" "$1@example.com"; }
revoke superseded 2
revoke compromised 1
revoke noreason 0
edit_key 20220101 subrevoked@example.com subrevoked "$(printf 'key 1\nrevkey\ny\n3\n\ny\nsave')"
export_key subrevoked-revoked subrevoked@example.com
edit_key 20220101 changed@example.com changed "$(printf 'key 1\nchange-usage\ns\ne\nq\nsave')"
export_key changed-to-encrypt changed@example.com
# gpg does not revoke the last user id: another one goes after it.
gone=$(fingerprint gone@)
at 20210101 --quick-add-uid "$gone" 'Other <other@example.com>'
at 20220101 --quick-revoke-uid "$gone" 'Gone <gone@example.com>'
export_key gone-one-left "$gone"
edit_key 20220101 "$gone" gone "$(printf 'uid Other <other@example.com>\nuid 1\ndeluid\ny\nsave')" || true
export_key gone-none-left "$gone"
gpg --batch --export carol@example.com | edit no-back-signature > keys/carol-no-back-signature.gpg
gpg --batch --export alice@example.com > keys/alice.gpg
gpg --batch --export carol@example.com | edit wrong-prefix-in-key > keys/carol-wrong-prefix.gpg
# Somebody else's signature on a user id, and a revocation by a key that another one is said to be revocable by.
at 20210101 -u bob@example.com --quick-sign-key "$(fingerprint alice@)"
export_key alice-signed-by-bob alice@example.com
edit_key 20210101 revocable@example.com revocable "$(printf 'addrevoker\nbob@example.com\ny\nsave')"
export_key revocable revocable@example.com
printf 'y\n1\n\ny\n' | at 20220101 --command-fd 0 --no-batch -u bob@example.com --desig-revoke revocable@example.com > "$work/revocation" 2> "$work/revocation.log"
at 20220101 --import "$work/revocation"
export_key revoked-by-another revocable@example.com
edit_key 20220101 certifying@example.com certifying "$(printf 'change-usage\ns\nq\nsave')"
export_key certifying certifying@example.com
cat keys/bob.asc keys/alice.asc keys/carol.asc > keys/several.asc
{ echo '# Who may release'; echo; cat keys/alice.asc; echo; echo '# and'; cat keys/bob.asc; } > keys/commented.asc
cat keys/alice.asc keys/alice.asc > keys/twice.asc
gpg --batch --armor --export alice@example.com bob@example.com > keys/one-block.asc
gpg --batch --export alice@example.com bob@example.com > keys/one-block.gpg
at 20240101 --armor --export-secret-keys alice@example.com | head -n 4 > keys/secret.asc
# A key with which the tests make signatures that gpg does not.
at 20200101 --quick-gen-key 'Maker <maker@example.com>' ed25519 sign 0
export_key maker maker@example.com
at 20240101 --armor --export-secret-keys maker@example.com > keys/maker-secret.asc
sed 's/$/\r/' keys/alice.asc > keys/alice-crlf.asc
{ echo 'alice@example.com ssh-ed25519 AAAA'; cat keys/alice.asc; } > keys/mixed.asc
sed '/^=/s/=..../=AAAA/' keys/alice.asc > keys/bad-checksum.asc
sed '/^-----END/d' keys/alice.asc > keys/no-end.asc
head -c 100 keys/alice.gpg > keys/cut.gpg
head -c "$(($(gpg --batch --export alice@example.com | wc -c) + 1))" keys/one-block.gpg > keys/cut-header.gpg
cp "$work/armor" keys/signature.asc
: > keys/empty
printf '\n# nobody yet\n' > keys/comments

# SSH.
ssh_key() { ssh-keygen -q -N '' -C "$1" -f "$work/$1" "${@:2}"; }
ssh_key ed25519 -t ed25519
ssh_key ecdsa256 -t ecdsa -b 256
ssh_key ecdsa384 -t ecdsa -b 384
ssh_key ecdsa521 -t ecdsa -b 521
ssh_key rsa -t rsa -b 3072
ssh_key rsa1024 -t rsa -b 1024
ssh_key rsa8192 -t rsa -b 8192
ssh_key other -t ed25519
ssh_key ca -t ed25519
git -C "$work/sha1" config gpg.format ssh
git -C "$work/sha256" config gpg.format ssh
ssh() { MAIL_KEY=$work/$2 WHO=Alice MAIL=${MAIL:-alice@example.com} commit "$@"; }
for name in ed25519 ecdsa256 ecdsa384 ecdsa521 rsa rsa1024 rsa8192 other; do ssh "ssh-$name" "$name" 20240101; done
ssh ssh-2019 ed25519 20190101
ssh ssh-2026 ed25519 20260101
MAIL=mallory@example.com ssh ssh-mallory ed25519 20240101
SSH_NAMESPACE=file ssh ssh-namespace ed25519 20240101
edit replace 'A change' 'a change' < objects/ssh-ed25519 | save ssh-altered commit
edit flip-signature < objects/ssh-ed25519 | save ssh-altered-signature commit
edit with-signature-of objects/ssh-2026 < objects/ssh-ed25519 | save ssh-moved commit
edit after-armor 'and then some' < objects/ssh-ed25519 | save ssh-after-armor commit
as 20240101 Alice alice@example.com
git -C "$work/sha1" tag -u "$work/ed25519" -m 'Release' v-ssh "$(object ssh-ed25519)"
take ssh-tag tag refs/tags/v-ssh
in=sha256
ssh sha256-ssh ed25519 20240101
in=sha1
for flags in 0 1; do
  edit sk touched $flags < "$work/plain" > "$work/sk"
  edit with-armor "$work/sk" < "$work/plain" | save "ssh-sk-$flags" commit
done
ssh-keygen -q -s "$work/ca" -I alice -n alice@example.com "$work/other.pub"
eval "$(ssh-agent)" > /dev/null
ssh-add -q "$work/other"
ssh-keygen -q -Y sign -n git -f "$work/other-cert.pub" < "$work/plain" > "$work/cert-armor"
kill "$SSH_AGENT_PID"
edit with-armor "$work/cert-armor" < "$work/plain" | save ssh-certificate commit

line() { echo "$1 $(cut -d' ' -f1,2 "$2") a comment"; } # principals and options, public key
signers() { cat > "keys/$1.signers"; }
public=$work/ed25519.pub
for name in ed25519 ecdsa256 ecdsa384 ecdsa521 rsa rsa1024 rsa8192 other; do line alice@example.com "$work/$name.pub" | signers "$name"; done
{ echo '# who may release'; echo; line bob@example.com "$work/other.pub"; line alice@example.com "$public"; } | signers several
line '*@example.com' "$public" | signers domain
line '*@example.com,!alice@example.com' "$public" | signers negated
line '!mallory@example.com,*@example.com' "$public" | signers negated-other
line '!alice@example.com' "$public" | signers only-negated
line '"alice@example.com,bob@example.com"' "$public" | signers quoted
line 'alice@example.com namespaces="git"' "$public" | signers namespace-git
line 'alice@example.com NameSpaces="file,git"' "$public" | signers namespace-both
line 'alice@example.com namespaces="file"' "$public" | signers namespace-file
line 'alice@example.com namespaces="*,!git"' "$public" | signers namespace-not-git
{ line 'alice@example.com namespaces="file"' "$public"; line 'alice@example.com namespaces="git"' "$public"; } | signers namespace-two-lines
line 'alice@example.com valid-after="20200101Z",valid-before="20250101Z"' "$public" | signers validity
line 'alice@example.com valid-after="20240101120000"' "$public" | signers valid-from-that-second
line 'alice@example.com valid-before="20240101120000Z"' "$public" | signers valid-to-that-second
line 'alice@example.com valid-before="20240101115959Z"' "$public" | signers valid-to-a-second-before
line 'alice@example.com cert-authority' "$work/ca.pub" | signers authority
{ line 'alice@example.com' "$public"; line 'bob@example.com cert-authority,namespaces="git"' "$work/ca.pub"; } | signers authority-beside
line 'alice@example.com no-touch-required' "$public" | signers unknown-option
line 'alice@example.com namespaces=git' "$public" | signers unquoted
line 'alice@example.com valid-after="2024"' "$public" | signers no-time
line 'alice@example.com valid-after="20250101",valid-before="20240101"' "$public" | signers times-crossed
line 'alice@example.com namespaces="git",namespaces="git"' "$public" | signers option-twice
line 'alice@example.com namespaces="git",' "$public" | signers trailing-comma
line 'alice@example.com' "$work/other-cert.pub" | signers certificate
line 'alice@example.com,' "$public" | signers empty-pattern
echo 'alice@example.com' | signers no-key
echo 'alice@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA' | signers cut-key
cat "$public" | signers no-principals
sed 's/$/\r/' keys/ed25519.signers | signers crlf
sed 's/ /\t/' keys/ed25519.signers | signers tabs
head -n 2 "$work/ed25519" > keys/ssh-secret.signers
echo "alice@example.com $(edit sk touched 0 public < /dev/null)" | signers sk
printf 'alice@example.com ssh-dss AAAAB3NzaC1kc3MAAAABAw==\n' | signers dss
printf '\xff\xfe\n' > keys/no-text
