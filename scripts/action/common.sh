# Shared by the scripts of the GitHub Action: messages, and HTTP requests with retries. Sourced, not run.
# shellcheck shell=bash

# Text of a workflow command; GitHub reads %, CR and LF in it as escapes.
escaped() {
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  printf '%s' "${text//$'\n'/%0A}"
}

notice() { printf '::notice title=dropleaf::%s\n' "$(escaped "$1")"; }

warn() { printf '::warning title=dropleaf::%s\n' "$(escaped "$1")"; }

fail() {
  printf '::error title=dropleaf::%s\n' "$(escaped "$1")"
  exit 1
}

need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || fail "This runner has no $tool, which the action needs."
  done
}

# digest: the SHA-256 of the input in hexadecimal digits; Linux and macOS have different tools.
digest() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c 1-64
}

# output NAME VALUE: a value on one line.
output() {
  case $2 in *$'\n'* | *$'\r'*) fail "The value of $1 has several lines." ;; esac
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The header is given to curl in a file that only this user can read: the arguments of a process are visible to others.
authorize() {
  (umask 077 && printf 'header = "Authorization: Bearer %s"\n' "$1" >"$scratch/authorization")
}

tries=${DROPLEAF_ACTION_TRIES:-4}
pause=${DROPLEAF_ACTION_PAUSE:-2}

# wait_seconds TRY: what the server asks for, up to two minutes, else twice as long as before.
wait_seconds() {
  local after now reset
  after=$(header retry-after)
  if [[ ! $after =~ ^[0-9]{1,6}$ ]] && [ "$(header x-ratelimit-remaining)" = 0 ]; then
    reset=$(header x-ratelimit-reset)
    now=$(date +%s)
    [[ $reset =~ ^[0-9]{1,12}$ ]] && after=$((reset > now ? reset - now : 1))
  fi
  [[ $after =~ ^[0-9]{1,6}$ ]] || after=$((pause * (1 << ($1 - 1))))
  echo $((after))
}

# header NAME: a header of the last response, lower case name.
header() {
  tr -d '\r' <"$scratch/headers" | awk -v name="$1:" 'tolower($1) == name { sub(/^[^:]*: */, ""); value = $0 } END { print value }'
}

# Whether the last response says to wait: too many requests, or GitHub's 403 for them.
is_limited() {
  [ "$status" = 429 ] || { [ "$status" = 403 ] && { [ "$(header x-ratelimit-remaining)" = 0 ] || [ -n "$(header retry-after)" ]; }; }
}

# call METHOD URL [CURL ARGUMENT]…: sets $status (000 if there was no response); the body is in $scratch/body. Repeated while
# the server asks to wait, and, unless $repeatable is false, while it fails.
status=000
repeatable=true
call() {
  local method=$1 url=$2 try=1 seconds
  shift 2
  while :; do
    : >"$scratch/headers"
    : >"$scratch/body"
    # Neither ~/.curlrc nor a redirect may send the credential elsewhere.
    status=$(curl -q --silent --show-error --config "$scratch/authorization" --request "$method" --proto '=http,https' \
      --connect-timeout 20 --max-time 600 --max-filesize 16777216 --dump-header "$scratch/headers" --output "$scratch/body" \
      --write-out '%{http_code}' "$@" --url "$url" 2>"$scratch/problem") || status=000
    if ! is_limited; then
      [ "$status" = 000 ] || [[ $status = 5?? ]] || return 0
      [ "$repeatable" = true ] || return 0
    fi
    [ "$try" -lt "$tries" ] || return 0
    seconds=$(wait_seconds "$try")
    # A longer wait is the workflow's business.
    [ "$seconds" -le 120 ] || return 0
    sleep "$seconds"
    try=$((try + 1))
  done
}

# problem: why the last request failed, in one sentence.
problem() {
  local said
  if [ "$status" = 000 ]; then
    said=$(head -n 1 "$scratch/problem")
    printf 'no response (%s)' "${said:-unknown reason}"
    return
  fi
  said=$(jq -r '.error_description // .message // empty' <"$scratch/body" 2>/dev/null | head -n 1)
  printf '%s%s' "$status" "${said:+: $said}"
}
