"""Schedules one task and waits for its result.

    python caller.py --address 127.0.0.1:50051 --n 30 --delay 1
"""

import argparse
import json
import sys
import uuid

import grpc
from google.protobuf.duration_pb2 import Duration
from punctual.v1 import result_pb2, scheduler_service_pb2, task_pb2
from punctual.v1.scheduler_service_pb2_grpc import SchedulerServiceStub

# A lost answer is asked for again. That is harmless: the id below names the same task each time.
RETRIES = {
    "methodConfig": [
        {
            "name": [{"service": "punctual.v1.SchedulerService"}],
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.2s",
                "maxBackoff": "2s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Schedules one fibonacci task and waits for its result.")
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--n", type=int, default=30)
    parser.add_argument("--delay", type=float, default=1, help="seconds until it is due")
    arguments = parser.parse_args()

    options = [("grpc.service_config", json.dumps(RETRIES))]
    with grpc.insecure_channel(arguments.address, options=options) as channel:
        stub = SchedulerServiceStub(channel)
        try:
            task_id = schedule(stub, arguments.n, arguments.delay)
            return report(wait_for_result(stub, task_id))
        except grpc.RpcError as error:
            print(f"{error.code().name}: {error.details()}", file=sys.stderr)
            return 1


def schedule(stub: SchedulerServiceStub, n: int, delay_seconds: float) -> str:
    delay = Duration()
    delay.FromMilliseconds(round(delay_seconds * 1000))
    spec = task_pb2.TaskSpec(
        id=f"python/{uuid.uuid4()}",
        handler="fibonacci",
        input_json=json.dumps({"n": n}),
        delay=delay,
        labels={"caller": "python"},
    )
    request = scheduler_service_pb2.ScheduleRequest(task=spec)
    task = stub.Schedule(request, timeout=10).task
    print(f"{task.spec.id} is due at {task.due_time.ToJsonString()}")
    return task.spec.id


def wait_for_result(stub: SchedulerServiceStub, task_id: str) -> result_pb2.TaskResult:
    request = scheduler_service_pb2.WaitForResultRequest(
        task_id=task_id,
        wait=Duration(seconds=30),
        output_format=result_pb2.OUTPUT_FORMAT_JSON,
    )
    while True:
        # an answer without a result says that the task has not ended yet
        answer = stub.WaitForResult(request, timeout=40)
        if answer.HasField("result"):
            return answer.result


def report(result: result_pb2.TaskResult) -> int:
    late_us = result.start_time.ToMicroseconds() - result.due_time.ToMicroseconds()
    print(f"started {late_us / 1000:.1f} ms after it was due, on {result.worker_id}")
    if result.outcome == result_pb2.OUTCOME_SUCCEEDED:
        print(json.loads(result.output_json))
        return 0
    print(f"{result_pb2.Outcome.Name(result.outcome)}: {result.error.message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
