# Go: what examples/go/README.md tells its readers, and that the consumer misses and doubles nothing
if ! (cd examples/go && go mod download); then
  echo 'the Go examples are left out: no Go here, or Go modules cannot be reached'
  exit 0
fi
npx tsx scripts/run-readme.ts examples/go/README.md
CONSUMER=examples/go/bin/consumer npx vitest run --project outside test/outside/consumers.test.ts
