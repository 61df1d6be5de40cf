# For steps that need a server: `source .ci/server.sh`, from the project's folder. Sets $scratch, an empty folder, and $address, where start_server
# listens; when the step ends, whatever start_server started is stopped and the folder is removed.
project=$PWD
punctual=${punctual:-$project/dist/cli/main.js}
buf=$project/node_modules/.bin/buf
scratch=$(mktemp -d)
server_pid=''
port=$(node --eval '
  const server = require("node:net").createServer()
  server.listen(0, "127.0.0.1", () => { console.log(server.address().port); server.close() })')
address=127.0.0.1:$port

# start_server [argument of `punctual serve`]...: in the background, its data in $scratch/data; returns when it listens
start_server() {
  node "$punctual" serve --listen "$address" --data "$scratch/data" "$@" >>"$scratch/server.log" 2>&1 &
  server_pid=$!
  local _
  for _ in {1..300}; do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return; fi
    kill -0 "$server_pid" 2>/dev/null || break
    sleep 0.1
  done
  echo "no server listens at $address:"
  cat "$scratch/server.log"
  return 1
}

# stop_server SIGNAL EXIT_CODE: and fails unless it ends with that code
stop_server() {
  kill -"$1" "$server_pid"
  local code=0
  wait "$server_pid" || code=$?
  server_pid=''
  ((code == $2)) || { echo "after SIG$1 the server ended with $code, not $2:"; cat "$scratch/server.log"; return 1; }
}

# call METHOD JSON: with buf curl, which knows nothing but what reflection tells it
call() { "$buf" curl --protocol grpc --http2-prior-knowledge "http://$address/punctual.v1.SchedulerService/$1" --data "$2"; }

# check_json NAME CONDITION <messages: fails unless the JavaScript condition holds for the list of messages, by that name
check_json() {
  node --input-type=module --eval '
    import { text } from "node:stream/consumers"
    const [name, condition] = process.argv.slice(1)
    const sent = await text(process.stdin)
    // buf and grpcurl print messages one after another
    const messages = JSON.parse(`[${sent.replace(/\}\s*\{/g, "},{")}]`)
    if (!new Function(name, `return ${condition}`)(messages)) {
      console.error(`not so: ${condition}\n${sent}`)
      process.exit(1)
    }
    console.log(`so it is: ${condition}`)
  ' "$@"
}

clean_up() {
  [[ -z $server_pid ]] || kill -KILL "$server_pid" 2>/dev/null || true
  rm -rf "$scratch"
}
trap clean_up EXIT
