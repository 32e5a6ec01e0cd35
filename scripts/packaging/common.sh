# Sourced by the scripts of this folder, which make the release files. Sets what they share:
#   bin      the binary to package: $DROPLEAF_BIN, or the one that `cargo auditable build --profile dist` makes
#   version  the version in Cargo.toml, or $PACKAGE_VERSION
#   arch     Debian's name of this machine's architecture
# and SOURCE_DATE_EPOCH, the time that every file in the packages gets: of the last commit, unless it is set.
# shellcheck shell=bash disable=SC2034 # used by those that source it
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PATH="$root/.test/tools/bin:$PATH" LC_ALL=C TZ=UTC
umask 022

die() {
  echo "${0##*/}: $1" >&2
  exit "${2:-1}"
}

# need COMMAND…: each must be installed.
need() {
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || die "no $command; run scripts/install-test-tools packages" 69
  done
}

# The rest of the workspace's version is in Cargo.toml, the first `version` of the file.
version=${PACKAGE_VERSION:-$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -1)}
arch=$(dpkg --print-architecture)
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
  SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct) || die "not a Git checkout: set SOURCE_DATE_EPOCH"
fi
export SOURCE_DATE_EPOCH

# Builds the binary unless one is given. Paths of this machine do not get into it.
build() {
  [ -z "${DROPLEAF_BIN-}" ] || { bin=$(readlink -f "$DROPLEAF_BIN"); return 0; }
  need cargo cargo-auditable
  local target=${CARGO_TARGET_DIR:-$root/target} home=${CARGO_HOME:-$HOME/.cargo} sysroot
  sysroot=$(rustc --print sysroot)
  (cd "$root" && RUSTFLAGS="--remap-path-prefix=$root=/src --remap-path-prefix=$target=/target \
--remap-path-prefix=$home=/cargo --remap-path-prefix=$sysroot=/rust" \
    CFLAGS="-ffile-prefix-map=$root=/src -ffile-prefix-map=$home=/cargo -ffile-prefix-map=$target=/target" \
    cargo auditable build --quiet --locked --profile dist -p dropleaf)
  bin=$target/dist/dropleaf
  lists_components "$bin" || die "the binary has no list of its components, which cargo auditable adds"
}

# Whether the binary contains the list of its components.
lists_components() {
  readelf --wide --section-headers "$1" | grep -qF ' .dep-v0 '
}

# same_times FOLDER: every file gets the time of the release.
same_times() {
  find "$1" -print0 | xargs -0 touch --no-dereference --date="@$SOURCE_DATE_EPOCH"
}

# archive FOLDER NAME FILE: a .tar.gz of FOLDER/NAME that depends on nothing but the content.
archive() {
  tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$1" -cf - "$2" \
    | gzip -n -9 >"$3"
}
