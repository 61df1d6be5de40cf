# Python with stock grpcio: what examples/python/README.md tells its readers, and that the consumer misses and doubles nothing
npx tsx scripts/run-readme.ts examples/python/README.md
CONSUMER="examples/python/.venv/bin/python examples/python/consumer.py" npx vitest run --project outside test/outside/consumers.test.ts
