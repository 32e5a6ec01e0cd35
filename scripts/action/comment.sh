#!/usr/bin/env bash
# Writes the link of the page on the pull request for the GitHub Action, and updates its earlier comment instead of adding
# another. A comment that cannot be written is a warning: the page is published. Reads DROPLEAF_ACTION_* and GITHUB_*.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

api=${GITHUB_API_URL:-https://api.github.com}
repository=${GITHUB_REPOSITORY-}
need curl jq

# Only for pull requests; the number is in the event.
[ -r "${GITHUB_EVENT_PATH-}" ] || exit 0
number=$(jq -r '.pull_request.number // empty' <"$GITHUB_EVENT_PATH")
[ -n "$number" ] || exit 0
[[ $number =~ ^[0-9]+$ && $repository =~ ^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$ ]] || fail "The event cannot be read."
if [ -z "${DROPLEAF_ACTION_GITHUB_TOKEN-}" ]; then
  warn "No comment was written: there is no token."
  exit 0
fi
[[ $DROPLEAF_ACTION_GITHUB_TOKEN =~ ^[A-Za-z0-9_.=-]+$ ]] || fail "The input github-token is not a token."
authorize "$DROPLEAF_ACTION_GITHUB_TOKEN"

# One comment for each page: the marker is not shown. Others can copy the marker, so only a comment by the same author is changed.
marker="<!-- dropleaf-action $(printf '%s\n' "${DROPLEAF_ACTION_SERVER%/}" "$DROPLEAF_ACTION_NAME" | digest | cut -c 1-16) -->"
headers=(--header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28' --header 'Content-Type: application/json')

give_up() {
  warn "No comment was written: $(problem). The job needs the permission pull-requests: write."
  exit 0
}

# find_comment: sets $comment to the newest of our comments, or to nothing.
find_comment() {
  local page=1 mine='github-actions[bot]'
  # A workflow's own token is no user and may not ask; another token may.
  call GET "$api/user" "${headers[@]}"
  [ "$status" != 200 ] || mine=$(jq -r .login <"$scratch/body")
  : >"$scratch/comments"
  while [ "$page" -le 30 ]; do
    call GET "$api/repos/$repository/issues/$number/comments?per_page=100&page=$page" "${headers[@]}"
    [ "$status" = 200 ] || give_up
    jq -r --arg marker "$marker" --arg mine "$mine" \
      '.[] | select(.user.login == $mine) | select(.body | startswith($marker)) | .id' <"$scratch/body" >>"$scratch/comments" ||
      fail "The comments cannot be read."
    [ "$(jq length <"$scratch/body")" = 100 ] || break
    page=$((page + 1))
  done
  comment=$(tail -n 1 "$scratch/comments")
}

commit=$(jq -r '.pull_request.head.sha // empty' <"$GITHUB_EVENT_PATH")
[[ $commit =~ ^[0-9a-f]{7,64}$ ]] || commit=${GITHUB_SHA-}
jq -n --arg marker "$marker" --arg url "$DROPLEAF_ACTION_URL" --arg version "$DROPLEAF_ACTION_VERSION" --arg commit "${commit:0:12}" \
  '{body: "\($marker)\n**Preview:** <\($url)>\n\nVersion \($version), from commit \($commit). The link stays the same for this branch."}' \
  >"$scratch/comment.json"

find_comment
if [ -n "$comment" ]; then
  [[ $comment =~ ^[0-9]+$ ]] || fail "The comments cannot be read."
  call PATCH "$api/repos/$repository/issues/comments/$comment" "${headers[@]}" --data-binary "@$scratch/comment.json"
else
  # A response that was lost would leave two comments.
  repeatable=false
  call POST "$api/repos/$repository/issues/$number/comments" "${headers[@]}" --data-binary "@$scratch/comment.json"
fi
case $status in
  200 | 201) ;;
  *) give_up ;;
esac
