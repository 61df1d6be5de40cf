"""Where a consumer keeps what it has received: one line of JSON for each response, its results and its cursor together."""

import json
import os


class Journal:
    """Because results and cursor are one write, a crash loses both or neither: nothing is missed and nothing is kept twice."""

    def __init__(self, path: str) -> None:
        self.cursor = ""
        self._file = open(path, "a+b")
        self._file.seek(0)
        whole = 0
        for line in self._file:
            # a crash in the middle of a write leaves a line without an end
            if not line.endswith(b"\n"):
                break
            self.cursor = json.loads(line)["cursor"]
            whole += len(line)
        self._file.truncate(whole)
        self._file.seek(whole)

    def append(self, cursor: str, results: list[dict]) -> None:
        """Keeps `results`, on disk when this returns. What must happen with them, happens here: in the same transaction as the cursor."""
        self._file.write(json.dumps({"cursor": cursor, "results": results}).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.cursor = cursor
