import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { kubeClient } from "../kube/client.ts";
import { loadKubeconfig, openConnection } from "../kube/connection.ts";
import { countCalls } from "./metrics.ts";

test("metrics - a call is in flight until it ends, and is counted unless the caller gave up", async () => {
  const server = createServer((_, response) => response.writeHead(200)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = await mkdtemp(join(tmpdir(), "metrics-"));
  const path = join(folder, "kubeconfig");
  await writeFile(
    path,
    JSON.stringify({
      clusters: [{ name: "a", cluster: { server: `http://${host}`, "insecure-skip-tls-verify": true } }],
      users: [{ name: "a", user: {} }],
      contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
      "current-context": "a",
    }),
  );
  const registry = new Registry();
  const client = kubeClient(await openConnection(loadKubeconfig({ path })), countCalls(registry));
  onTestFinished(async () => {
    await client.connection.close();
    server.close();
    await rm(folder, { recursive: true });
  });
  const samples = async (metric: string) => (await registry.getSingleMetric(metric)?.get())?.values;
  const inFlight = async () => (await samples("rest_client_requests_in_flight"))?.[0]?.value;

  for (const end of ["answered", "broken off", "given up"]) {
    const asked = once(server, "request");
    const over = new AbortController();
    const call = client.request({ method: "PATCH", path: "/", body: {}, signal: over.signal });
    const settled = call.then(
      () => "answered",
      () => "failed",
    );
    const [, response] = await asked;
    expect(await inFlight(), end).toBe(1);
    if (end === "answered") response.end("{}");
    if (end === "broken off") response.destroy();
    if (end === "given up") over.abort();
    expect(await settled).toBe(end === "answered" ? "answered" : "failed");
    expect(await inFlight(), end).toBe(0);
  }
  expect(
    (await samples("rest_client_requests_total"))?.map(({ labels, value }) => ({ ...labels, value })),
  ).toEqual([
    { code: 200, host, method: "PATCH", value: 1 },
    { code: "<error>", host, method: "PATCH", value: 1 },
  ]);
});
