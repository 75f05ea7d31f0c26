// Preloaded into a measured process by `profilerEnv`. It serves V8's inspector on a Unix socket and opens no port, so the
// process is not debugged: it keeps HTTP connections and its watchdog. One connection is one session; each line is a
// call of the Chrome DevTools Protocol or its answer.
// JavaScript, because a TypeScript preload would load Node's compiler into the measured process and its threads.
import { rmSync } from "node:fs";
import { Session } from "node:inspector";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { isMainThread } from "node:worker_threads";

function serve(socket) {
  const session = new Session();
  session.connect();
  // A client that disconnects early must not end the process; "close" follows.
  socket.on("error", () => undefined);
  socket.once("close", () => session.disconnect());
  socket.unref();
  createInterface({ input: socket }).on("line", (line) => {
    const { method, params } = JSON.parse(line);
    session.post(method, params, (error, result) => {
      socket.write(`${JSON.stringify({ error: error?.message, result })}\n`);
    });
  });
}

const directory = process.env.DENREI_TEST_PROFILER;
// Worker threads run preloads as well, and share the process id.
if (isMainThread && directory !== undefined) {
  const path = `${directory}/profiler-${process.pid}.sock`;
  rmSync(path, { force: true });
  createServer(serve).listen(path).unref();
}
