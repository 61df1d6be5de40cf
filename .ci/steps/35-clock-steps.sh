# Sets the wall clock of a real server forward and back, by libfaketime
find /usr/lib -name libfaketimeMT.so.1 2>/dev/null | grep -q . ||
  { apt-get update && apt-get install -y faketime; } >/dev/null 2>&1 || true
if ! find /usr/lib -name libfaketimeMT.so.1 2>/dev/null | grep -q .; then
  echo 'NOT CHECKED: what a step of the wall clock does to a real server. There is no libfaketime here, and it cannot be installed: apt-get install faketime'
  exit 0
fi
npx vitest run --config vitest.long.config.ts test/outside/clock-steps
