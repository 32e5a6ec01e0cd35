# Sourced by the tests of the packages. One line for each step: `pass: …` or `FAIL: …`, and the first failure ends the test.
# shellcheck shell=bash disable=SC2034 # used by those that source it
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/dropleaf-packages.XXXXXX")
chmod 755 "$work"

# step TEXT COMMAND…: the command must succeed. Its output is shown if it does not.
step() {
  local text=$1
  shift
  if "$@" >"$work/step.log" 2>&1; then
    echo "pass: $text"
  else
    echo "FAIL: $text ($*)"
    tail -n 40 "$work/step.log"
    exit 1
  fi
}

# fails COMMAND…: the command must fail.
fails() {
  ! "$@"
}

# same EXPECTED FOUND
same() {
  [ "$1" = "$2" ] || { printf 'expected: %s\nfound: %s\n' "$1" "$2"; return 1; }
}

# wait_until SECONDS COMMAND…: polls until the command succeeds.
wait_until() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.2
  done
}

need() {
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || { echo "FAIL: no $command; run scripts/install-test-tools packages"; exit 69; }
  done
}

# A loopback port that was free a moment ago, below the range of outgoing connections.
free_port() {
  python3 - <<'PY'
import random, socket
while True:
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", random.randrange(15000, 32000)))
        except OSError:
            continue
        print(s.getsockname()[1])
        break
PY
}
