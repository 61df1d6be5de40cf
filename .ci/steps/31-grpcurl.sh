# grpcurl through reflection: lists and describes every service, method and message, schedules plain JSON, streams
source .ci/server.sh
source .ci/grpcurl.sh "$scratch" || exit 0
start_server
curl=(grpcurl -plaintext)
scheduler=punctual.v1.SchedulerService

"${curl[@]}" "$address" list | tee "$scratch/services"
for service in $(<"$scratch/services"); do
  "${curl[@]}" "$address" describe "$service" >>"$scratch/described"
  for method in $("${curl[@]}" "$address" list "$service"); do
    "${curl[@]}" "$address" describe "$method" >>"$scratch/described"
  done
done
grep --count '^service\|is a method' "$scratch/described"
# the comments of the contract come along
grep '// Stores one task. It is on disk before the answer leaves' "$scratch/described"
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
