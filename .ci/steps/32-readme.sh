# Every command of the README and of the examples' pages, as their readers would type them (Python and Go: 30 and 33)
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
source .ci/grpcurl.sh "$tools" || true
npx tsx scripts/run-readme.ts README.md examples/README.md examples/handlers/README.md examples/typescript/README.md \
  examples/repeating-jobs/README.md docs/recurrence.md docs/results.md docs/testing.md
