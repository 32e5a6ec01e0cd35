#!/usr/bin/env bash
# Publishes a folder or a file for the GitHub Action. The page of a branch is found by its title, so no state is kept: the
# first run creates it, later runs replace its content, and the link stays the same. Reads DROPLEAF_ACTION_* and GITHUB_*.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

server=${DROPLEAF_ACTION_SERVER%/}
key=${DROPLEAF_ACTION_KEY-}
path=${DROPLEAF_ACTION_PATH-}

if [ -z "$key" ]; then
  # GitHub gives no secrets to pull requests from forks.
  notice "Nothing was published: there is no API key. Pull requests from forks get no secrets."
  exit 0
fi
[[ $server =~ ^https?://[^[:space:]\"\\]+$ ]] || fail "The input server must be an address such as https://pages.example.com."
[[ $key =~ ^[A-Za-z0-9_-]{8,200}$ ]] || fail "The input key is not an API key. Create one in the dashboard under Keys."
[ -n "$path" ] || fail "The input path is empty."
need curl jq zip
authorize "$key"

# The source branch of a pull request, else the branch or tag that was pushed.
branch=${GITHUB_HEAD_REF:-${GITHUB_REF_NAME-}}
if [ -r "${GITHUB_EVENT_PATH-}" ]; then
  # A branch of a fork has the page of no branch of this repository.
  fork=$(jq -r 'select(.pull_request.head.repo.full_name != .pull_request.base.repo.full_name) | .pull_request.head.label // empty' <"$GITHUB_EVENT_PATH")
  branch=${fork:-$branch}
fi
title=${DROPLEAF_ACTION_TITLE:-${GITHUB_REPOSITORY:-page}: $branch}
title=$(printf '%s' "$title" | tr '\000-\037\177' ' ')
if [ "${#title}" -gt 160 ]; then
  title="${title:0:140} #$(printf '%s' "$title" | digest | cut -c 1-12)"
fi

cd "${GITHUB_WORKSPACE:-.}"
[ -e "$path" ] || fail "There is no $path. Build it in a step before this one."
if [ -d "$path" ]; then
  upload=$scratch/site.zip
  # Regular files only: what a symbolic link points to may be outside, and dotfiles may hold secrets.
  (cd -- "$path" && find . -name '.?*' -prune -o -type f -print) | sed 's|^\./||' | LC_ALL=C sort >"$scratch/files"
  [ -s "$scratch/files" ] || fail "$path contains no files to publish. Files whose name begins with a dot are left out."
  (cd -- "$path" && zip -q -X -@ "$upload" <"$scratch/files") || fail "$path could not be packed: a file name may contain a line break."
else
  mkdir "$scratch/upload"
  upload=$scratch/upload/$(basename -- "$path")
  cp -- "$path" "$upload"
fi

# find_page: sets $id to the oldest page with the title, or to nothing.
find_page() {
  local query='limit=500' before before_id pages=0
  : >"$scratch/found"
  while [ "$pages" -lt 40 ]; do
    call GET "$server/sites?$query"
    [ "$status" = 200 ] || fail "The pages of the account could not be listed: $(problem)"
    jq -r --arg title "$title" '.sites[] | select(.title == $title) | "\(.created_at) \(.id)"' <"$scratch/body" >>"$scratch/found"
    [ "$(jq -r .has_more <"$scratch/body")" = true ] || break
    before=$(jq -r .next_before <"$scratch/body")
    before_id=$(jq -r .next_before_id <"$scratch/body")
    [[ $before =~ ^[0-9]+$ && $before_id =~ ^site_[0-9a-z]+$ ]] || fail "The server returned a list that cannot be read."
    query="limit=500&before=$before&before_id=$before_id"
    pages=$((pages + 1))
  done
  id=$(sort -n "$scratch/found" | head -n 1 | cut -d ' ' -f 2)
}

# curl reads `;`, `,` and quotes in a file's name unless it is in quotes; values are read from files, where @ and < mean nothing.
quoted() {
  local text=${1//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}
fields=(--form "file=@$(quoted "$upload")")
field() {
  printf '%s' "$2" >"$scratch/field-$1"
  fields+=(--form "$1=<$scratch/field-$1")
}
field title "$title"
[ -z "${DROPLEAF_ACTION_PASSWORD-}" ] || field password "$DROPLEAF_ACTION_PASSWORD"
[ -z "${DROPLEAF_ACTION_EXPIRES-}" ] || field expires_in_hours "$DROPLEAF_ACTION_EXPIRES"
[ "${DROPLEAF_ACTION_SPA:-false}" = false ] || field spa "$DROPLEAF_ACTION_SPA"

find_page
if [ -n "$id" ]; then
  [[ $id =~ ^site_[0-9a-z]+$ ]] || fail "The server returned a list that cannot be read."
  call PUT "$server/sites/$id" "${fields[@]}"
else
  # A repeated request with the same key creates nothing twice.
  once=$(printf '%s\n' "${GITHUB_REPOSITORY-}" "$title" "${GITHUB_RUN_ID-}" "${GITHUB_RUN_ATTEMPT-}" | cat - "$upload" | digest)
  call POST "$server/sites" --header "Idempotency-Key: $once" "${fields[@]}"
fi
case $status in
  200 | 201) ;;
  *)
    jq -r '.reasons[]? | "\(.file)\(if .line then ", line \(.line)" else "" end): \(.why) \(.fix)"' <"$scratch/body" 2>/dev/null |
      head -n 20 | while IFS= read -r reason; do warn "$reason"; done || true
    fail "Not published: $(problem)"
    ;;
esac

for name in url id version; do
  value=$(jq -r ".$name // empty" <"$scratch/body")
  [ -n "$value" ] || fail "The response of the server has no $name."
  output "$name" "$value"
done
output title "$title"
jq -r '.warnings[]? // empty' <"$scratch/body" | head -n 20 | while IFS= read -r warning; do warn "$warning"; done
url=$(jq -r .url <"$scratch/body")
notice "Published: $url"
if [ -n "${GITHUB_STEP_SUMMARY-}" ]; then
  printf 'Published to <%s>\n' "$url" >>"$GITHUB_STEP_SUMMARY"
fi
