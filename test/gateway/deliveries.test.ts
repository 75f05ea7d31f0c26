/** Duplicates and redeliveries: each delivery is stored once, and a redelivery that a user requests is stored again. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf } from "../harness/webhooks.ts";
import { lastSequence, startWebhookBus, storedAfter, storedOf, withGateway } from "./gateways.ts";
import { ask } from "./requests.ts";

let local: LocalBus;
beforeAll(async () => {
  local = await startWebhookBus();
});
afterAll(() => local?.stop());

const push = () => hookOf("push", example("push"));
/** A stopped clock: a repeated delivery never counts as a redelivery that a user requested. */
const timeless = { now: () => 0 };

test("stores a delivery once when two replicas receive it, or one replica receives it twice", () =>
  withGateway(
    local,
    (one) =>
      withGateway(
        local,
        async (two) => {
          const before = await lastSequence(local);
          const hooks = Array.from({ length: 30 }, push);
          const answers = await Promise.all(
            hooks.map((hook) => Promise.all([one, two, one].map(({ hookUrl }) => ask(hookUrl(), hook)))),
          );
          for (const three of answers) {
            expect(three.map(({ status }) => status)).toEqual([202, 202, 202]);
            expect(three.map(({ text }) => text).sort()).toEqual(["duplicate", "duplicate", "stored"]);
          }
          for (const hook of hooks)
            expect(await ask(two.hookUrl(), hook)).toMatchObject({ status: 202, text: "duplicate" });
          const ids = (await storedAfter(local, before)).map(({ header }) => header.get("ce-id"));
          expect(ids.sort()).toEqual(hooks.map(({ delivery }) => delivery).sort());
          const counted = [await one.outcomes(), await two.outcomes()];
          const sum = (key: string) => counted.reduce((all, outcomes) => all + (outcomes[key] ?? 0), 0);
          expect([sum("push stored 202"), sum("push duplicate 202")]).toEqual([30, 90]);
        },
        timeless,
      ),
    timeless,
  ));

test("stores a requested redelivery as another message with the same ID", async () => {
  const noon = Date.parse("2131-02-03T12:00:00Z");
  let offset = 0;
  /** First the true time, which the bus records; afterward a time at which no window for duplicates ends. */
  const now = () => (offset === 0 ? Date.now() : noon + offset);
  await withGateway(
    local,
    async (gateway) => {
      const hook = push();
      const outcome = async () => {
        const answer = await ask(gateway.hookUrl(), hook);
        expect(answer.status).toBe(202);
        return answer.text;
      };
      expect(await outcome()).toBe("stored");
      expect(await outcome()).toBe("duplicate");
      offset = 1000;
      expect(await outcome()).toBe("redelivered");
      // The answer was late, so a proxy sends the request again.
      offset = 9999;
      expect(await outcome()).toBe("duplicate");
      // A second redelivery.
      offset = 25_000;
      expect(await outcome()).toBe("redelivered");
      const messages = await storedOf(local, hook.delivery);
      expect(messages).toHaveLength(3);
      const [first, ...again] = messages;
      for (const message of again) {
        expect(message.subject).toBe(first?.subject);
        expect(message.data).toEqual(first?.data);
      }
      expect(await gateway.outcomes()).toEqual({
        "push stored 202": 1,
        "push duplicate 202": 2,
        "push redelivered 202": 2,
      });
    },
    { now },
  );
});

test("stores two deliveries that differ only in their IDs", () =>
  withGateway(local, async (gateway) => {
    for (const hook of [push(), push()])
      expect(await ask(gateway.hookUrl(), hook)).toMatchObject({ status: 202, text: "stored" });
  }));
