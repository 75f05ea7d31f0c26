/** What becomes of waiting when the API server does not answer as it should: played by a server that says what it is told. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type KubeClient, kubeClient } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { ConfigMap } from "../../bus/kube/kind.ts";
import { watched } from "../ket/watching.ts";
import { changesOf, type Trouble, troubleLines } from "./changes.ts";

const at = { namespace: "default", name: "one" };
const list = { metadata: { resourceVersion: "1" }, items: [] };
const refused = { message: "nobody may look at it", reason: "Forbidden" };

let answer: () => { readonly status: number; readonly body: object };
let asked: number;
let server: Server;
let folder: string;
let client: KubeClient;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked++;
    // A watch stays open, and has nothing to tell.
    if (request.url?.includes("watch=1")) return void response.writeHead(200).flushHeaders();
    const { status, body } = answer();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  folder = await mkdtemp(join(tmpdir(), "changes-"));
  const path = join(folder, "kubeconfig");
  const config = {
    clusters: [
      { name: "played", cluster: { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } },
    ],
    contexts: [{ name: "played", context: { cluster: "played", user: "nobody" } }],
    users: [{ name: "nobody", user: {} }],
    "current-context": "played",
  };
  await writeFile(path, JSON.stringify(config));
  client = kubeClient(await openConnection(loadKubeconfig({ path })));
});
afterAll(async () => {
  await client?.connection.close();
  server?.closeAllConnections();
  server?.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  asked = 0;
});

/** Aborts while the request of that number is answered. */
function askedTimes(times: number, say: typeof answer): AbortSignal {
  const over = new AbortController();
  answer = () => {
    if (asked === times) over.abort();
    return say();
  };
  return over.signal;
}

test.each([404, 403, 500])("an API server that answers %i is asked again after a pause", async (status) => {
  const signal = askedTimes(5, () => ({ status, body: refused }));
  const trouble: Trouble = {};
  const seen: unknown[] = [];
  const begun = performance.now();
  for await (const object of changesOf(client, ConfigMap, at, signal, trouble)) seen.push(object);
  expect(asked).toBe(5);
  // Timers may be a little early.
  expect(performance.now() - begun).toBeGreaterThan(4 * 95);
  expect(troubleLines(trouble)).toEqual([
    expect.stringContaining(`was answered ${status} Forbidden: nobody may look at it`),
  ]);
  // A kind that is not served has no objects. Of all else nothing is known.
  expect(seen).toEqual(status === 404 ? Array.from({ length: 4 }) : []);
});

test("trouble that is over is not told", async () => {
  answer = () => (asked < 3 ? { status: 403, body: refused } : { status: 200, body: list });
  const trouble: Trouble = {};
  for await (const object of changesOf(client, ConfigMap, at, AbortSignal.timeout(60_000), trouble)) {
    expect(object).toBeUndefined();
    break;
  }
  expect(asked).toBe(3);
  expect(troubleLines(trouble)).toEqual([]);
});

test("what nobody could look at is neither there nor gone, and why is told", async () => {
  for (const expected of [{ data: {} }, { $absent: true }]) {
    asked = 0;
    const signal = askedTimes(2, () => ({ status: 403, body: refused }));
    const [seen] = await watched(client, [{ kind: ConfigMap, at, expected }], signal);
    expect(seen?.differences).toEqual([
      "expected the API server to tell of it, found no answer",
      expect.stringMatching(/^it could not be looked at: GET .* 403 Forbidden: nobody may look at it/),
    ]);
  }
});

test("who waits for an object of a kind that is not served is told so", async () => {
  const signal = askedTimes(2, () => ({ status: 404, body: { message: "there is no such kind" } }));
  const [seen] = await watched(client, [{ kind: ConfigMap, at, expected: { data: {} } }], signal);
  expect(seen?.differences).toEqual([
    "expected it to be there, found none",
    expect.stringMatching(/^it could not be looked at: GET .* 404: there is no such kind/),
  ]);
});
