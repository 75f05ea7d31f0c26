/** Requests on the bus whose responses are lost with the connection. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bus } from "../../bus/nats/connect.ts";
import { DisconnectedError } from "../../bus/nats/inbox.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

let local: LocalBus;
let bus: Bus;
beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
});
afterAll(() => local?.stop());

test("a request fails at once when the connection breaks, also one of the client library", async () => {
  const kv = await bus.kvm.create("ASKED", { history: 1 });
  const ask = () =>
    [
      bus.inbox.request("$JS.API.INFO", "", { timeoutMillis: 1_000_000 }),
      bus.jsm.streams.info("KV_ASKED"),
      kv.get("key"),
      kv.put("key", "value"),
    ].map((question) => question.catch((error: unknown) => error));
  process.kill(local.nats.pid ?? 0, "SIGSTOP");
  // The server may answer until all of its threads are stopped.
  const late = () =>
    bus.inbox.request("$JS.API.INFO", "", { timeoutMillis: 10 }).then(() => "answered", String);
  await expect.poll(late).toContain("timeout: $JS.API.INFO was not answered within 10 ms");
  const asked = ask();
  await local.nats.stop("SIGKILL");
  for (const answer of await Promise.all(asked)) expect(answer).toBeInstanceOf(DisconnectedError);
  // The same holds for requests made before it reconnects.
  for (const answer of await Promise.all(ask())) expect(answer).toBeInstanceOf(DisconnectedError);
  await local.nats.start();
  await expect.poll(() => kv.get("key").catch(String), { timeout: 60_000 }).toBeNull();
});

test("without a responder, the client library's JetStream reports it as it does without the inbox", async () => {
  await expect(bus.js.publish("nobody.listens", "")).rejects.toThrow("jetstream is not enabled");
});
