# What a newcomer does first; prepare builds. No compiler, no host in the lock.
if grep -n '"resolved"' package-lock.json | head -3 | grep .; then
  echo "package-lock.json names where packages came from: install with omit-lockfile-registry-resolved, as .npmrc says"
  exit 1
fi
# a compiler that fails at once proves that none is needed
CC=/bin/false CXX=/bin/false npm ci
npx --no-install punctual --version
