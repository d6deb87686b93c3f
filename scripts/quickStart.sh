#!/usr/bin/env bash
# The README's first command, as a reader runs it: `npm start` serves an empty folder, and the line that it prints to paste is
# answered with a product.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
touch "$folder/printed"
# In a group of its own, as a terminal would stop it: npm alone would leave the server behind.
PORT=0 DATA_DIR="$folder/data" setsid npm start >"$folder/printed" 2>&1 &
server=$!
trap 'kill -- "-$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

# Before anything that takes long, it says what it does: within a second, or on a busy machine within half a minute.
for _ in $(seq 300); do
  if grep -q '^Building Vitrine' "$folder/printed"; then break; fi
  sleep 0.1
done
grep -q '^Building Vitrine' "$folder/printed" || { echo "quick start: npm start did not say what it does" >&2; exit 1; }

for _ in $(seq 1200); do
  if line=$(grep '^  curl ' "$folder/printed"); then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$folder/printed" >&2; exit 1; }
  sleep 0.5
done
[ -n "$line" ] || { echo "quick start: npm start printed no line to paste, but:" >&2; cat "$folder/printed" >&2; exit 1; }
answer=$(bash -c "$line --fail --silent --show-error --max-time 60")
grep -q '"title":"Linen shirt"' <<<"$answer" || { echo "quick start: $answer" >&2; exit 1; }
echo "quick start: served, and the line to paste is answered"
