/** The gateway answers 202 only after the bus has stored the delivery, and reports deliveries that the bus does not store. */
import { errors } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { streams } from "../../bus/subjects.ts";
import type { LocalBus } from "../harness/localbus.ts";
import { example, type Hook, hookOf } from "../harness/webhooks.ts";
import { paused, startWebhookBus, storedOf, withGateway } from "./gateways.ts";
import { type Answered, ask } from "./requests.ts";

let local: LocalBus;
beforeAll(async () => {
  local = await startWebhookBus();
});
afterAll(() => local?.stop());

const push = () => hookOf("push", example("push"));
const deadline = { timeout: 30_000 };
/** A stopped clock: a repeated delivery never counts as a redelivery that a user requested. */
const timeless = { now: () => 0 };

/** Waits until the connection works again. */
const untilBack = ({ jsm }: Bus) =>
  expect.poll(() => jsm.streams.info(streams.webhooks).then(() => "back", String), deadline).toBe("back");

/** Kills the server for the duration of `work`. */
async function killed(work: () => Promise<void>): Promise<void> {
  await local.nats.stop("SIGKILL");
  try {
    await work();
  } finally {
    await local.nats.start();
    await untilBack(local.bus);
  }
}

/** Posts a webhook; `answered()` returns whether the answer has arrived. */
function posting(url: string, hook: Hook): { readonly answer: Promise<Answered>; answered(): boolean } {
  let answered = false;
  const answer = ask(url, hook).finally(() => {
    answered = true;
  });
  return { answer, answered: () => answered };
}

describe("bus", () => {
  test("slow: the gateway answers only after the bus has stored the delivery", () =>
    withGateway(local, async (gateway, bus) => {
      const before = bus.nc.stats().outMsgs;
      const hooks = [push(), push(), push()];
      let posted: ReturnType<typeof posting>[] = [];
      await paused(local, async () => {
        posted = hooks.map((hook) => posting(gateway.hookUrl(), hook));
        await expect.poll(() => bus.nc.stats().outMsgs, deadline).toBe(before + 3);
        // Other requests do not wait.
        expect(await ask(gateway.hookUrl(), { ...push(), body: "other" })).toMatchObject({ status: 401 });
        expect(posted.map(({ answered }) => answered())).toEqual([false, false, false]);
      });
      for (const { answer } of posted) expect(await answer).toMatchObject({ status: 202, text: "stored" });
      for (const { delivery } of hooks) expect(await storedOf(local, delivery)).toHaveLength(1);
    }));

  test("too slow: the gateway answers 503, and a retry through another replica is stored once", () =>
    withGateway(
      local,
      async (patient) =>
        withGateway(
          local,
          async (gateway) => {
            const hook = push();
            expect(gateway.notReady()).toBeUndefined();
            await paused(local, async () => {
              const answer = await ask(gateway.hookUrl(), hook);
              expect(answer).toMatchObject({ status: 503, text: "not stored: send it again" });
              expect(answer.headers["retry-after"]).toBe("5");
              expect(gateway.notReady()).toMatch(
                /^the bus does not store messages: no answer came in time\. Check the NATS servers' logs/,
              );
              expect(await gateway.outcomes()).toEqual({ "push not_stored 503": 1 });
              expect(patient.notReady()).toBeUndefined();
            });
            expect(await ask(patient.hookUrl(), hook)).toMatchObject({ status: 202 });
            // The server first stores the message that it received while it was stopped.
            const again = async () => (await ask(gateway.hookUrl(), hook)).text;
            await expect.poll(again, deadline).toBe("duplicate");
            expect(await storedOf(local, hook.delivery)).toHaveLength(1);
          },
          { times: { store: 300 }, ...timeless },
        ),
      timeless,
    ));

  test("killed: the gateway answers 503, then 202 after the restart", () =>
    withGateway(
      local,
      async (gateway, bus) => {
        const [first, hook] = [push(), push()];
        const reason = "the bus does not store messages: the connection broke before the answer came";
        const outcome = async (sent: Hook) => (await ask(gateway.hookUrl(), sent)).text;
        await expect.poll(() => outcome(first), deadline).toMatch(/stored|duplicate/);
        await killed(async () => {
          for (const tried of [hook, hook, first])
            expect(await ask(gateway.hookUrl(), tried)).toMatchObject({ status: 503 });
          expect(gateway.notReady()).toContain(reason);
          expect(gateway.log.records().findLast(({ msg }) => msg === "webhook not accepted")).toMatchObject({
            level: "warn",
            status: 503,
            delivery: first.delivery,
            detail: expect.stringContaining(reason),
          });
        });
        await untilBack(bus);
        // The time limit is short here, so a try that was answered with 503 may have been stored.
        await expect.poll(() => outcome(hook), deadline).toMatch(/^(stored|duplicate)$/);
        await expect.poll(() => outcome(first), deadline).toBe("duplicate");
        for (const { delivery } of [first, hook]) expect(await storedOf(local, delivery)).toHaveLength(1);
        expect(gateway.notReady()).toBeUndefined();
      },
      { times: { store: 500 }, ...timeless },
    ));

  test("slow: the time limit includes a slow sender, because GitHub waits ten seconds in total", () =>
    withGateway(
      local,
      async (gateway) => {
        await paused(local, async () => {
          expect(await ask(gateway.hookUrl(), push())).toMatchObject({ status: 503 });
        });
        expect(gateway.notReady()).toContain("no answer came in time");
      },
      { times: { store: 600_000, answer: 500 } },
    ));

  test("loses its answer: the gateway publishes again, stores one message, and answers 202", async () => {
    const bus = await connectBus({ url: local.natsUrlFor("gateway"), name: "test-gateway" });
    let lost = 0;
    const forgetful: Bus = {
      ...bus,
      inbox: {
        ...bus.inbox,
        async request(...args) {
          const answer = await bus.inbox.request(...args);
          if (args[0].startsWith("webhooks.") && lost++ === 0) throw new errors.TimeoutError();
          return answer;
        },
      },
    };
    await withGateway(
      local,
      async (gateway) => {
        const hook = push();
        expect(await ask(gateway.hookUrl(), hook)).toMatchObject({ status: 202 });
        expect(lost).toBe(2);
        expect(await storedOf(local, hook.delivery)).toHaveLength(1);
      },
      { bus: forgetful },
    );
  });

  test("limited in message size: the gateway answers 413 to larger events and stays ready", () =>
    withGateway(local, async (gateway, bus) => {
      const statuses: string[] = [];
      void (async () => {
        for await (const { type } of bus.nc.status()) statuses.push(type);
      })();
      const repositories = Array.from({ length: 40_000 }, (_, id) => ({
        id,
        full_name: `acme/repository-${id}`,
      }));
      const many = { ...example("installation_repositories"), repositories_added: repositories };
      const name = "n".repeat(5000);
      const long = { ...example("push"), repository: { ...(example("push").repository as object), name } };
      for (const [event, payload, detail] of [
        ["installation_repositories", many, "Raise max_payload of the NATS servers"],
        ["push", long, "no repository has such a name"],
      ] as const) {
        expect(await ask(gateway.hookUrl(), hookOf(event, payload))).toMatchObject({
          status: 413,
          text: "payload too large for the bus",
        });
        expect(gateway.log.records().findLast(({ msg }) => msg === "webhook not accepted")).toMatchObject({
          level: "warn",
          outcome: "oversized",
          detail: expect.stringContaining(detail),
        });
      }
      // The connection survives, and the gateway stays ready.
      expect(gateway.notReady()).toBeUndefined();
      expect(await ask(gateway.hookUrl(), push())).toMatchObject({ status: 202 });
      expect(statuses).not.toContain("disconnect");
    }));
});
