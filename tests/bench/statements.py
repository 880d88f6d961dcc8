#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""statements.py URL DIR: pass requests on to the server at URL and keep those that read a table's rows in DIR, each with what it
asked (N.sql) and its parameters (N.url), for the same to be sent again. Prints its port, and ends with its standard input."""
import http.client
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

server, kept = urlsplit(sys.argv[1]), sys.argv[2]
seen = 0


class Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global seen
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if b" FROM `default`." in body:
            query = urlsplit(self.path).query
            open(os.path.join(kept, "%05d.sql" % seen), "wb").write(body)
            open(os.path.join(kept, "%05d.url" % seen), "w").write("&".join(p for p in query.split("&") if not p.startswith("query_id=")))
            seen += 1
        on = http.client.HTTPConnection(server.hostname, server.port)
        on.request("POST", self.path, body, {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")})
        answer = on.getresponse()
        text = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        on.close()

    def log_message(self, *args):
        pass


here = ThreadingHTTPServer(("127.0.0.1", 0), Passing)
threading.Thread(target=here.serve_forever, daemon=True).start()
print(here.server_port, flush=True)
sys.stdin.read()
