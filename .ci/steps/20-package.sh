# The package as a user gets it: packed, installed in an empty folder without development dependencies, then run, called by buf curl
# through reflection, killed and started again.
source .ci/server.sh
npm pack --loglevel=warn --ignore-scripts --pack-destination "$scratch"
cd "$scratch"
echo '{ "name": "somebody", "private": true, "type": "module" }' >package.json
CC=/bin/false CXX=/bin/false npm install --no-audit --no-fund ./punctual-*.tgz
npx --no-install punctual --version
node --eval '
  const entries = ["punctual", "punctual/handlers", "punctual/testing"]
  for (const name of entries) console.log(name, "exports", Object.keys(await import(name)).join(", "))
' --input-type=module

echo '--- the contract for other languages'
npx --no-install punctual proto --out contract
"$buf" build contract --output /dev/null

punctual=$scratch/node_modules/punctual/dist/cli/main.js
start_server

echo '--- reflection'
for version in v1 v1alpha; do
  curl=("$buf" curl --protocol grpc --http2-prior-knowledge --reflect-protocol "grpc-$version")
  "${curl[@]}" --list-services "http://$address" | sort | paste --serial --delimiters ' ' | grep --line-regexp \
    'grpc.health.v1.Health grpc.reflection.v1.ServerReflection grpc.reflection.v1alpha.ServerReflection punctual.v1.SchedulerService'
  # needs every file that the services import
  "${curl[@]}" --list-methods "http://$address" >methods
  for method in Schedule StreamResults GetServerInfo; do grep --line-regexp "punctual.v1.SchedulerService/$method" methods; done
  "${curl[@]}" "http://$address/grpc.health.v1.Health/Check" --data '{}' | check_json answers 'answers[0].status === "SERVING"'
done
call ListHandlers '{}' | check_json answers 'answers[0].handlers.map((one) => one.name).join() === "echo,fibonacci,sleep"'

echo '--- a task in plain JSON'
call Schedule '{"task": {"id": "package/now", "handler": "fibonacci", "input": {"n": 10}}}' |
  check_json answers 'answers[0].created && answers[0].cursor !== ""'
call WaitForResult '{"taskId": "package/now", "wait": "10s"}' |
  check_json answers 'answers[0].result.outcome === "OUTCOME_SUCCEEDED" && answers[0].result.output.value === 55'
call StreamResults '{"position": "POSITION_EARLIEST", "stopWhenCaughtUp": true}' |
  check_json messages 'messages.flatMap((one) => one.results ?? []).map((one) => one.taskId).join() === "package/now"'
code=0
call Schedule '{"task": {"handler": "fibonaci", "input": {"n": 10}}}' 2>refusal || code=$?
grep "'fibonacci'" refusal
# 8 x INVALID_ARGUMENT
((code == 24))

echo '--- a kill between the answer and the due time'
call Schedule '{"task": {"id": "package/later", "handler": "fibonacci", "input": {"n": 20}, "delay": "6s"}}' |
  check_json answers 'answers[0].created'
stop_server KILL 137
start_server
call WaitForResult '{"taskId": "package/later", "wait": "20s"}' | check_json answers \
  '[answers[0].result].every((one) => one.outcome === "OUTCOME_SUCCEEDED" && one.attempts === 1 &&
     new Date(one.startTime) >= new Date(one.dueTime) && new Date(one.startTime) - new Date(one.dueTime) < 2000)'
call StreamResults '{"position": "POSITION_EARLIEST", "stopWhenCaughtUp": true}' | check_json messages \
  'messages.flatMap((one) => one.results ?? []).map((one) => one.taskId).join() === "package/now,package/later"'
stop_server TERM 0
