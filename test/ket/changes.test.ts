/** Waiting for objects while the API server answers with errors, which a small server simulates. */
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
import { changesOf, failureLines, type ReadFailure } from "./changes.ts";
import { watched } from "./watching.ts";

const at = { namespace: "default", name: "one" };
const list = { metadata: { resourceVersion: "1" }, items: [] };
const refused = { message: "reading is not allowed", reason: "Forbidden" };

let answer: () => { readonly status: number; readonly body: object };
let asked: number;
let server: Server;
let folder: string;
let client: KubeClient;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked++;
    // A watch stays open and sends nothing.
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

/** Aborts while the server answers request number `times`. */
function askedTimes(times: number, say: typeof answer): AbortSignal {
  const over = new AbortController();
  answer = () => {
    if (asked === times) over.abort();
    return say();
  };
  return over.signal;
}

test.each([404, 403, 500])("retries after a pause when the API server answers %i", async (status) => {
  const signal = askedTimes(5, () => ({ status, body: refused }));
  const failure: ReadFailure = {};
  const seen: unknown[] = [];
  const begun = performance.now();
  for await (const object of changesOf(client, ConfigMap, at, signal, failure)) seen.push(object);
  expect(asked).toBe(5);
  // Timers may fire a little early.
  expect(performance.now() - begun).toBeGreaterThan(4 * 95);
  expect(failureLines(failure)).toEqual([
    expect.stringContaining(`was answered ${status} Forbidden: reading is not allowed`),
  ]);
  // A kind that is not served has no objects. After other errors the state is unknown.
  expect(seen).toEqual(status === 404 ? Array.from({ length: 4 }) : []);
});

test("does not report an error that has passed", async () => {
  answer = () => (asked < 3 ? { status: 403, body: refused } : { status: 200, body: list });
  const failure: ReadFailure = {};
  for await (const object of changesOf(client, ConfigMap, at, AbortSignal.timeout(60_000), failure)) {
    expect(object).toBeUndefined();
    break;
  }
  expect(asked).toBe(3);
  expect(failureLines(failure)).toEqual([]);
});

test("reports why an object could not be read instead of whether it exists", async () => {
  for (const expected of [{ data: {} }, { $absent: true }]) {
    asked = 0;
    const signal = askedTimes(2, () => ({ status: 403, body: refused }));
    const [seen] = await watched(client, [{ kind: ConfigMap, at, expected }], signal);
    expect(seen?.differences).toEqual([
      "the API server has not answered",
      expect.stringMatching(/^the last request failed: GET .* 403 Forbidden: reading is not allowed/),
    ]);
  }
});

test("reports that the kind is not served when the object never appears", async () => {
  const signal = askedTimes(2, () => ({ status: 404, body: { message: "there is no such kind" } }));
  const [seen] = await watched(client, [{ kind: ConfigMap, at, expected: { data: {} } }], signal);
  expect(seen?.differences).toEqual([
    "it does not exist",
    expect.stringMatching(/^the last request failed: GET .* 404: there is no such kind/),
  ]);
});
