# What a newcomer does first: npm ci, which builds. It needs no compiler, and the lock names no host.
if grep --max-count=3 '"resolved"' package-lock.json; then
  echo 'package-lock.json says where packages came from; .npmrc has omit-lockfile-registry-resolved to prevent it'
  exit 1
fi
CC=/bin/false CXX=/bin/false npm ci
npx --no-install punctual --version
