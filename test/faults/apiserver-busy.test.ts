/** Reconciles that hit their time limit because the API server throttles or does not answer. Their objects are not to blame. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { conditions } from "../../bus/kube/fields.ts";
import { defineKind } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { startLocalNats } from "../../deploy/local/index.ts";
import { clientOf } from "../harness/clients.ts";
import { programs } from "../harness/programs.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";

await programs("nats-server");

const Visit = defineKind({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Visit",
  description: "A visit to the API server.",
  spec: z.object({ to: z.enum(["throttled", "silent", "nobody"]) }),
  status: z.object({ conditions: conditions("Ready") }),
});

/** Answers requests for Visits and keeps status patches. Throttles requests for `throttled` and never answers those for `silent`. */
async function startBusyServer(objects: ReadonlyMap<string, Stored>) {
  const patches: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const [name = "", subresource] = new URL(request.url ?? "", "http://localhost").pathname
      .split("/")
      .slice(7);
    if (name === "silent") return;
    if (name === "throttled") {
      response.writeHead(429, { "retry-after": "1" });
      return response.end("Too many requests, please try again later.");
    }
    if (subresource === "status") patches.push(`${name}: ${body}`);
    response.end(JSON.stringify(objects.get(name)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = await clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(async () => {
    await client.connection.close();
    server.close();
    server.closeAllConnections();
  });
  return { client, patches };
}

test("a time limit hit while the API server throttles or is silent makes no dead letter; any other does", async () => {
  const local = await startLocalNats();
  onTestFinished(() => local.stop());
  const bus = await connectBus({ url: local.natsUrl, name: "test" });
  onTestFinished(() => bus.nc.close());
  const destinations = ["throttled", "silent", "nobody"] as const;
  const objects = new Map(
    destinations.map((to, at) => [`to-${to}`, stored(Visit, `to-${to}`, at + 1, { to })] as const),
  );
  const { client, patches } = await startBusyServer(objects);
  const visits = { throttled: 0, silent: 0, nobody: 0 };
  const fn = defineFunction({
    name: "visiting",
    for: Visit,
    timeoutMillis: 500,
    async reconcile({ spec: { to } }, ctx) {
      visits[to]++;
      if (to === "nobody") await once(ctx.signal, "abort");
      else await ctx.live.get(Visit, to);
    },
  });
  const busOptions = { replicas: 1, ackWaitMillis: 10_000 };
  await ensureTopology(bus, busOptions);
  const worker = await startTestWorker({
    bus,
    busOptions,
    client,
    functions: [fn],
    retries: { baseMillis: 10, capMillis: 20, maxAttempts: 2, maxCrashes: 3 },
  });
  onTestFinished(() => worker.stop());
  const publisher = await publisherOf(bus, Visit);
  for (const object of objects.values()) await publisher.publish("added", object, "watch");

  await expect.poll(() => visits, { timeout: 60_000 }).toMatchObject({ nobody: 2 });
  await expect.poll(() => Math.min(visits.throttled, visits.silent), { timeout: 60_000 }).toBeGreaterThan(3);
  const letters = deadLetters(bus, { fn: "visiting", cluster: "test" });
  // One of its two visits may start after all others.
  await expect
    .poll(async () => (await letters.list()).map(({ key }) => key.name), { timeout: 60_000 })
    .toEqual(["to-nobody"]);
  for (const to of ["throttled", "silent"])
    expect(patches.find((patch) => patch.startsWith(`to-${to}: `))).toMatch(
      new RegExp(`"reason":"ApiServerUnavailable","message":"[^"]*GET \\S+/visits/${to} was`),
    );
});
