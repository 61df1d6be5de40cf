# grpcurl through reflection: lists and describes every service, method and message, schedules plain JSON, streams
source .ci/server.sh
if ! GOBIN=$scratch go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3; then
  echo 'grpcurl is absent: no Go here, or Go modules cannot be reached. 20-package has covered reflection v1 and v1alpha with buf curl.'
  exit 0
fi
start_server
curl=("$scratch/grpcurl" -plaintext)
scheduler=punctual.v1.SchedulerService

"${curl[@]}" "$address" list | tee "$scratch/services"
for service in $(<"$scratch/services"); do
  "${curl[@]}" "$address" describe "$service" >>"$scratch/described"
  for method in $("${curl[@]}" "$address" list "$service"); do
    "${curl[@]}" "$address" describe "$method" >>"$scratch/described"
  done
done
grep --count '^service\|is a method' "$scratch/described"
# every message that a method takes or gives, with what their fields are made of
for message in $(grep --only-matching '\.punctual\.v1\.[A-Za-z]*' "$scratch/described" | sort --unique); do
  "${curl[@]}" "$address" describe "$message" >/dev/null
done
"${curl[@]}" -msg-template "$address" describe .punctual.v1.ScheduleRequest

"${curl[@]}" -d '{"task": {"id": "grpcurl/1", "handler": "fibonacci", "input": {"n": 30}, "delay": "0.5s"}}' "$address" "$scheduler/Schedule" |
  check_json answers 'answers[0].created'
"${curl[@]}" -d '{"task_id": "grpcurl/1"}' "$address" "$scheduler/WaitForResult" |
  check_json answers 'answers[0].result.output.value === 832040'
"${curl[@]}" -d '{"position": "POSITION_EARLIEST", "stop_when_caught_up": true}' "$address" "$scheduler/StreamResults" |
  check_json messages 'messages.at(-1).caughtUp && messages.flatMap((one) => one.results ?? []).length === 1'
code=0
"${curl[@]}" -d '{"id": "grpcurl/nobody"}' "$address" "$scheduler/GetTask" 2>"$scratch/refusal" || code=$?
cat "$scratch/refusal"
grep TASK_NOT_FOUND "$scratch/refusal"
((code == 64 + 5))
stop_server TERM 0
