#!/bin/bash
# Asks git, with the keys of each line of cases.txt alone, and compares its last column: the word `good` or `bad`. Prints
# the lines that differ. git knows neither committers nor the name that a tag was asked by, so that its word is about signatures.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export TZ=UTC GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
cat > "$work/gpg" <<'X'
#!/bin/bash
exec gpg --batch --no-tty --no-auto-check-trustdb --faked-system-time "${GPG_TIME}!" "$@"
X
chmod +x "$work/gpg"
for format in sha1 sha256; do
  git init -q --object-format=$format "$work/$format"
  git -C "$work/$format" config gpg.program "$work/gpg"
done
while read -r name type id; do
  [ ${#id} = 40 ] && format=sha1 || format=sha256
  git -C "$work/$format" hash-object -t "$type" -w --literally --stdin < "objects/$name" > /dev/null
done < objects.txt
object() { awk -v name="$1" '$1 == name { print $3 }' objects.txt; }

ask() { # kind object
  local id; id=$(object "$2")
  [ ${#id} = 40 ] && format=sha1 || format=sha256
  git -C "$work/$format" "verify-$1" --raw "$id" >> "$work/said" 2>&1
}
wrong=0
while IFS='|' read -r name tip keys mode _ now _ git _; do
  [[ $name = \#* || -z $name ]] && continue
  name=${name// /} tip=${tip// /} keys=${keys// /} mode=${mode// /} now=${now// /} git=${git// /}
  [ "$now" = - ] && now=20240601
  export GPG_TIME=${now}T000000
  export GNUPGHOME=$work/home-$keys
  : > "$work/said"
  if [[ $keys = *.signers ]]; then
    git -C "$work/sha1" config gpg.ssh.allowedSignersFile "$PWD/keys/$keys"
    git -C "$work/sha256" config gpg.ssh.allowedSignersFile "$PWD/keys/$keys"
  else
    rm -f "$work/none"; git -C "$work/sha1" config gpg.ssh.allowedSignersFile "$work/none"
    if [ ! -d "$GNUPGHOME" ]; then
      mkdir -m 700 "$GNUPGHOME"
      "$work/gpg" --quiet --import "keys/$keys" 2> /dev/null || true
    fi
  fi
  tip=${tip%@*}
  IFS='<' read -r commit tag _ <<< "$tip"
  said=good
  case $mode in
    Head) ask commit "$commit" || said=bad ;;
    Tag) ask tag "${tag:-none}" || said=bad ;;
    TagAndHead) ask tag "${tag:-none}" || said=bad; ask commit "$commit" || said=bad ;;
  esac
  if [ "$said" != "$git" ]; then
    wrong=$((wrong + 1))
    echo "$name: git says $said: $(grep -oE '(GOOD|BAD|ERR|EXP|REV|EXPKEY|REVKEY)SIG[^<]*|Could not verify.*|error:.*|fatal:.*|No principal.*|Good .*|GOODSIG.*' "$work/said" | head -3 | tr '\n' ';')"
  fi
done < cases.txt
echo "$wrong lines differ"
[ $wrong = 0 ]
