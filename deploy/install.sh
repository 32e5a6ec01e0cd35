#!/bin/sh
# Installs dropleaf from a release tarball, or removes it again. As root for the whole machine, otherwise into ~/.local.
#   ./install.sh [--prefix FOLDER] [--no-service]      from the unpacked tarball
#   ./install.sh --tarball FILE [--sums SHA256SUMS]    checks the tarball (against SHA256SUMS beside it), unpacks and installs it
#   ./install.sh --uninstall [--prefix FOLDER]         removes what was installed; keeps settings and data
set -eu

say() { echo "install.sh: $1"; }
die() {
	echo "install.sh: $1" >&2
	exit 1
}
usage() {
	sed -n '2,5s/^# \{0,1\}//p' "$0"
	exit "$1"
}

prefix="" tarball="" sums="" service=yes uninstall=no
while [ $# -gt 0 ]; do
	case $1 in
	--prefix | --tarball | --sums)
		[ $# -ge 2 ] || die "$1 needs a value"
		case $1 in
		--prefix) prefix=$2 ;;
		--tarball) tarball=$2 ;;
		--sums) sums=$2 ;;
		esac
		shift
		;;
	--no-service) service=no ;;
	--uninstall) uninstall=yes ;;
	--help | -h) usage 0 ;;
	*)
		usage 64 >&2
		;;
	esac
	shift
done
is_root=no
[ "$(id -u)" != 0 ] || is_root=yes
if [ -z "$prefix" ]; then
	if [ $is_root = yes ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
fi
case $prefix in
/*) ;;
*) die "--prefix must be an absolute path" ;;
esac
# What was installed, one path a line, so that nothing else is ever removed.
list=$prefix/share/dropleaf/installed.txt

# A unit is part of the machine (or of the person), not of a prefix; another prefix is for those who start the program themselves.
units=""
if [ $service = yes ]; then
	if [ $is_root = yes ] && [ "$prefix" = /usr/local ]; then
		units=/etc/systemd/system
	elif [ $is_root = no ] && [ "$prefix" = "${HOME:?}/.local" ]; then
		units=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
	fi
fi

systemd() {
	if [ $is_root = yes ]; then
		[ ! -d /run/systemd/system ] || systemctl "$@"
	elif systemctl --user show-environment >/dev/null 2>&1; then
		systemctl --user "$@"
	fi
}

if [ $uninstall = yes ]; then
	[ -f "$list" ] || die "nothing is installed in $prefix"
	if grep -q '/dropleaf\.service$' "$list"; then
		systemd disable --now dropleaf.service || true
	fi
	while IFS= read -r path; do
		rm -f "$path"
	done <"$list"
	rm -f "$list"
	rmdir "$prefix/share/dropleaf" "$prefix/share/doc/dropleaf" 2>/dev/null || true
	systemd daemon-reload || true
	say "removed. Settings and data are kept."
	exit 0
fi

# Everything temporary is in one folder that only this user can write to.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
new=$work/installed files=$work/files unit=$work/unit

if [ -n "$tarball" ]; then
	[ -f "$tarball" ] || die "no file $tarball"
	[ -n "$sums" ] || sums=$(dirname "$tarball")/SHA256SUMS
	[ -f "$sums" ] || die "no $sums; without it the tarball cannot be checked"
	name=$(basename "$tarball")
	expected=$(awk -v name="$name" '{ sub(/^\*/, "", $2) } $2 == name { print $1 }' "$sums")
	[ -n "$expected" ] || die "$sums does not name $name"
	found=$(sha256sum "$tarball" | cut -d ' ' -f 1)
	[ "$found" = "$expected" ] || die "$name does not match its checksum; download it again"
	say "checksum of $name is right"
	source=$work/release
	mkdir "$source"
	tar -xzf "$tarball" -C "$source" --strip-components=1 --no-same-owner
else
	source=$(cd "$(dirname "$0")" && pwd)
fi
[ -f "$source/bin/dropleaf" ] || die "this folder is not an unpacked release: no bin/dropleaf"
# Before anything is replaced: a binary for another system or an older C library would not start.
"$source/bin/dropleaf" --version >/dev/null || die "this binary does not run here"

# put MODE SOURCE TARGET: in one step, so that a running program is never half replaced.
put() {
	mkdir -p "$(dirname "$3")"
	cp "$2" "$3.new"
	chmod "$1" "$3.new"
	mv "$3.new" "$3"
	echo "$3" >>"$new"
}

(cd "$source" && find bin share -type f) >"$files"
while IFS= read -r file; do
	case $file in
	bin/*) put 755 "$source/$file" "$prefix/$file" ;;
	*) put 644 "$source/$file" "$prefix/$file" ;;
	esac
done <"$files"

if [ -n "$units" ] && [ $is_root = yes ]; then
	put 755 "$source/sbin/dropleaf-admin" "$prefix/sbin/dropleaf-admin"
	if ! getent passwd dropleaf >/dev/null; then
		useradd --system --user-group --home-dir /var/lib/dropleaf --no-create-home --shell /usr/sbin/nologin dropleaf
	fi
	if [ ! -e /etc/dropleaf/dropleaf.toml ]; then
		mkdir -p /etc/dropleaf
		cp "$source/share/dropleaf/dropleaf.toml" /etc/dropleaf/dropleaf.toml
		chown root:dropleaf /etc/dropleaf/dropleaf.toml
		chmod 640 /etc/dropleaf/dropleaf.toml
	fi
	sed "s|/usr/bin/dropleaf|$prefix/bin/dropleaf|" "$source/lib/systemd/dropleaf.service" >"$unit"
	put 644 "$unit" "$units/dropleaf.service"
elif [ -n "$units" ]; then
	settings=${XDG_CONFIG_HOME:-$HOME/.config}/dropleaf/server.toml
	if [ ! -e "$settings" ]; then
		mkdir -p "$(dirname "$settings")"
		sed "s|^data_dir = .*|data_dir = \"${XDG_DATA_HOME:-$HOME/.local/share}/dropleaf-server\"|" \
			"$source/share/dropleaf/dropleaf.toml" >"$settings"
		chmod 600 "$settings"
	fi
	cp "$source/lib/systemd/dropleaf.user.service" "$unit"
	put 644 "$unit" "$units/dropleaf.service"
fi
# Files of an older version that this one no longer has.
if [ -f "$list" ]; then
	grep -vxF -f "$new" "$list" | while IFS= read -r path; do rm -f "$path"; done
fi
mkdir -p "$(dirname "$list")"
mv "$new" "$list"
chmod 644 "$list"

say "$("$prefix/bin/dropleaf" --version) is installed in $prefix"
if [ -n "$units" ]; then
	systemd daemon-reload || true
	if [ $is_root = yes ]; then
		# An upgrade: the service goes on with the new binary.
		systemd try-restart dropleaf.service || true
		say "start it with: systemctl enable --now dropleaf"
	else
		systemd try-restart dropleaf.service || true
		say "start it with: systemctl --user enable --now dropleaf"
	fi
fi
case :$PATH: in
*:"$prefix/bin":*) ;;
*) say "$prefix/bin is not in PATH" ;;
esac
