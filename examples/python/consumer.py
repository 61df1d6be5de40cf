"""Receives every result once, also when the server or this program is killed in between.

    python consumer.py --address 127.0.0.1:50051 --journal results.jsonl

Ends with 0 on SIGINT or SIGTERM, and with 3 when the place where it stopped is not in the server's log any more.
"""

import argparse
import json
import random
import signal
import sys
import threading

import grpc
from google.protobuf.duration_pb2 import Duration
from journal import Journal
from punctual.v1 import result_pb2, scheduler_service_pb2
from punctual.v1.scheduler_service_pb2_grpc import SchedulerServiceStub

# The server speaks at least this often; with keepalive, a peer that vanished is noticed although TCP says nothing.
HEARTBEAT_SECONDS = 5
CHANNEL_OPTIONS = [
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    # a server that comes back is found soon
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2_000),
]
LONGEST_PAUSE_SECONDS = 2.0
# trying again does not help against these
FINAL = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Receives every result once.")
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--journal", default="results.jsonl")
    arguments = parser.parse_args()

    stopping = threading.Event()
    journal = Journal(arguments.journal)
    with grpc.insecure_channel(arguments.address, options=CHANNEL_OPTIONS) as channel:
        consumer = Consumer(SchedulerServiceStub(channel), journal, stopping)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: consumer.stop())
        return consumer.run()


class Consumer:
    def __init__(self, stub: SchedulerServiceStub, journal: Journal, stopping: threading.Event) -> None:
        self._stub = stub
        self._journal = journal
        self._stopping = stopping
        self._call = None

    def run(self) -> int:
        pause = 0.1
        while not self._stopping.is_set():
            try:
                for response in self._open():
                    self._keep(response)
                    pause = 0.1
            except grpc.RpcError as error:
                if self._stopping.is_set():
                    break
                print(f"{error.code().name}: {error.details()}", file=sys.stderr, flush=True)
                if error.code() in FINAL:
                    return 3
            # not all consumers at the same moment
            self._stopping.wait(pause * random.uniform(0.8, 1.2))
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        return 0

    def stop(self) -> None:
        self._stopping.set()
        if self._call is not None:
            self._call.cancel()

    def _open(self):
        request = scheduler_service_pb2.StreamResultsRequest(
            heartbeat_interval=Duration(seconds=HEARTBEAT_SECONDS),
            output_format=result_pb2.OUTPUT_FORMAT_JSON,
        )
        if self._journal.cursor:
            request.after_cursor = self._journal.cursor
        else:
            request.position = scheduler_service_pb2.POSITION_EARLIEST
        # wait_for_ready: while the server is down, the call waits for it
        self._call = self._stub.StreamResults(request, wait_for_ready=True)
        return self._call

    def _keep(self, response: scheduler_service_pb2.StreamResultsResponse) -> None:
        # most heartbeats bring nothing new
        if response.cursor == self._journal.cursor:
            return
        self._journal.append(response.cursor, [plain(result) for result in response.results])
        for result in response.results:
            print(result.sequence, result.task_id, result_pb2.Outcome.Name(result.outcome), flush=True)


def plain(result: result_pb2.TaskResult) -> dict:
    """As much of a result as this consumer is about."""
    return {
        "sequence": result.sequence,
        "taskId": result.task_id,
        "run": result.run,
        "outcome": result_pb2.Outcome.Name(result.outcome),
        "output": json.loads(result.output_json) if result.output_json else None,
    }


if __name__ == "__main__":
    sys.exit(main())
