"""The management API held against its own description, by schemathesis.

The binary runs over memories, conversations and a reflection that was given up.
Three checks count: no answer is a server error, none has a status or a media
type that the document doesn't name, none differs from its schema. Two rounds:
calls with ids and values as they come, and calls on what is really there.

Usage: openapi.py SCHEMATHESIS
"""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.request

from stack import TOKEN, MODEL, stack, until

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method,allow_header_conformance"


class Nowhere(http.server.BaseHTTPRequestHandler):
    """A model API without the model: reflections are given up at once."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_error(404)

    def log_message(self, *_):
        pass


def fill(s):
    """Memories of every state, two conversations, a dead letter; returns ids of them."""
    made = [s.api("/api/v1/memories", "POST", m) for m in (
        {"text": "Lives in Oslo.", "type": "user_fact", "subject": "home"},
        {"text": "平时喜欢喝乌龙茶", "type": "preference", "standing": True},
        {"text": "Run make before the tests.", "type": "solution", "metadata": {"from": "a person"}},
        {"text": "Went to Rome.", "type": "event", "subject": "travel"},
        {"text": "Went to Pisa.", "type": "event", "subject": "travel"},
    )]
    s.api(f"/api/v1/memories/{made[0]['id']}", "PATCH", {"text": "Lives in Bergen."})
    s.api(f"/api/v1/memories/{made[1]['id']}", "DELETE")
    for name in ("one", "two"):
        s.api(f"/api/v1/sessions/{name}/events?user=local", "POST", [
            {"type": "user_input", "payload": "The harbour crane's access code is 4411. Restart the service."},
            {"type": "tool_call", "payload": {"name": "restart", "call_id": "c1", "text": "{}"}},
            {"type": "tool_result", "payload": {"call_id": "c1", "text": "port is taken", "failed": True}},
            {"type": "final_output", "payload": "Port 8080 is taken."}])
    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "Where do I live?"}]}).encode()
    req = urllib.request.Request(s.base + "/chat/completions", data=body, headers={"Content-Type": "application/json", "Authorization": "Bearer sk-x"})
    with urllib.request.urlopen(req, timeout=30) as r:
        exchange = r.headers["Hindsight-Exchange"]
    session = s.sessions()[0]["id"]
    dead = until("a reflection is given up", lambda: next(iter(s.api("/api/v1/reflections?state=dead")["reflections"]), None), 60)
    return {"memory": made[0]["id"], "session": session, "exchange": exchange, "reflection": dead["id"], "tenant": "default", "scope": "user:nobody"}


def real(ids):
    """schemathesis.toml with the ids of what is there."""
    lines = []
    for pattern, parameters in (
        ("/memories/\\{id\\}", {"id": ids["memory"]}),
        ("/sessions/\\{id\\}", {"id": ids["session"]}),
        ("/exchanges/\\{id\\}", {"id": ids["exchange"]}),
        ("/reflections/\\{id\\}", {"id": ids["reflection"]}),
    ):
        lines += ["[[operations]]", f"include-path-regex = {json.dumps(pattern)}", f"parameters = {{ {', '.join(f'{k} = {json.dumps(v)}' for k, v in parameters.items())} }}", ""]
    return "\n".join(lines)


def run(schemathesis, s, folder, name, config, *more):
    path = pathlib.Path(folder, name + ".toml")
    path.write_text(config)
    hooks = str(pathlib.Path(__file__).with_name("openapi_hooks.py"))
    return subprocess.run([
        schemathesis, "--config-file", str(path), "run", s.admin + "/openapi.json",
        "--header", "Authorization: Bearer " + TOKEN, "--checks", CHECKS, "--phases", "examples,coverage,fuzzing",
        "--max-examples", "25", "--seed", "11", "--generation-database", "none", "--no-color", "--warnings", "off",
        "--request-timeout", "60", "--continue-on-failure", *more], cwd=folder, env=os.environ | {"SCHEMATHESIS_HOOKS": hooks}).returncode


def main(schemathesis):
    nowhere = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nowhere)
    threading.Thread(target=nowhere.serve_forever, daemon=True).start()
    with stack(HINDSIGHT_REFLECT_API_BASE=f"http://127.0.0.1:{nowhere.server_port}/v1", HINDSIGHT_LOG_LEVEL="error", HINDSIGHT_REFLECT_MODEL=MODEL, HINDSIGHT_REFLECT_API_KEY="sk-x",
               HINDSIGHT_EMBEDDER="none", HINDSIGHT_TENANT="default", HINDSIGHT_DEFAULT_USER="local") as s, \
            tempfile.TemporaryDirectory() as folder:
        ids = fill(s)
        failed = run(schemathesis, s, folder, "any", "")
        failed |= run(schemathesis, s, folder, "real", real(ids), "--include-path-regex", "\\{id\\}")
        if s.memory() != "on":
            raise AssertionError("memory is " + str(s.memory()) + " after the calls")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
