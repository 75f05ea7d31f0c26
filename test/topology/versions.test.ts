/** Programs of two versions on one bus change each other's streams and consumers only where they may. */
import { AckPolicy, DeliverPolicy, DiscardPolicy, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Stream } from "../../bus/topology/ensure.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { events, openBench, reader, type TopologyBench, version } from "./bench.ts";

let local: LocalBus;
let bench: TopologyBench;
beforeAll(async () => {
  local = await startLocalBus();
  bench = await openBench(local);
});
afterAll(() => local?.stop());

const streamOf = async (name: string) => (await local.bus.jsm.streams.info(name)).config;
const consumerOf = async (name: string) => (await local.bus.jsm.consumers.info(name, "reader")).config;

test("a stream and a consumer record their version, and a program of the same version writes nothing", async () => {
  const [stream, consumer] = [events("same"), reader("same")];
  await bench.start(version(3, 2), stream, consumer);
  const ours = { "denrei.dev/topology": "3", "denrei.dev/topology-serves": "2" };
  expect((await streamOf("same")).metadata).toMatchObject(ours);
  expect((await consumerOf("same")).metadata).toMatchObject(ours);
  await bench.writes();
  await bench.start(version(3, 2), stream, consumer);
  expect(await bench.writes()).toBe(0);
});

describe("streams and consumers of an older program are updated in place", () => {
  const changes: readonly [string, Partial<Stream>, Partial<Stream>][] = [
    ["subjects", {}, { subjects: ["%.>", "%-more.>"] }],
    ["max_age, up", {}, { max_age: 7200e9 }],
    ["max_bytes", {}, { max_bytes: 2_000_000 }],
    ["max_msgs_per_subject", {}, { max_msgs_per_subject: 5 }],
    ["discard", { max_msgs_per_subject: 5 }, { discard: DiscardPolicy.New, discard_new_per_subject: true }],
    ["allow_direct", { allow_direct: false }, { allow_direct: true }],
    ["allow_msg_ttl, on", {}, { allow_msg_ttl: true }],
    ["allow_msg_schedules, on", {}, { allow_msg_schedules: true, allow_rollup_hdrs: true }],
    ["duplicate_window, up", { duplicate_window: 1e9 }, { duplicate_window: 2e9 }],
    ["retention, limits to interest", {}, { retention: RetentionPolicy.Interest }],
  ];
  test.for(changes)("stream: %s", async ([what, before, after], { expect }) => {
    const name = `in-place-${changes.findIndex(([other]) => other === what)}`;
    const named = (more: Partial<Stream>) =>
      events(name, {
        ...before,
        ...more,
        ...(more.subjects && { subjects: more.subjects.map((subject) => subject.replace("%", name)) }),
      });
    await bench.start(version(1), named({}), reader(name));
    await local.bus.js.publish(`${name}.a`, "kept");
    await bench.start(version(2), named(after), reader(name));
    const { config, state } = await local.bus.jsm.streams.info(name);
    const { storage: _, ...wanted } = named(after);
    expect(config).toMatchObject({ ...wanted, metadata: { "denrei.dev/topology": "2" } });
    expect(state.messages).toBe(1);
  });

  test("consumer: filters, AckWait, and limits, at the same position", async () => {
    await bench.start(version(1), events("going"), reader("going"));
    await local.bus.js.publish("going.a", "1");
    await local.bus.js.publish("going.b", "2");
    const consumer = await local.bus.js.consumers.get("going", "reader");
    await (await consumer.next())?.ackAck();
    const after = {
      filter_subjects: ["going.a", "going.b"],
      ack_wait: 7e9,
      max_ack_pending: 10,
      max_deliver: 9,
    };
    await bench.start(version(2), events("going"), reader("going", after));
    expect(await consumerOf("going")).toMatchObject(after);
    const info = await local.bus.jsm.consumers.info("going", "reader");
    expect(info.ack_floor.stream_seq).toBe(1);
  });

  test("without a recorded version", async () => {
    await local.bus.jsm.streams.add({ ...events("silent"), description: "old" } as never);
    await local.bus.jsm.consumers.add("silent", reader("silent", { ack_wait: 9e9 }));
    await bench.start(version(1), events("silent", { description: "new" }), reader("silent"));
    expect(await streamOf("silent")).toMatchObject({
      description: "new",
      metadata: { "denrei.dev/topology": "1" },
    });
    expect(await consumerOf("silent")).toMatchObject({
      ack_wait: 5e9,
      metadata: { "denrei.dev/topology": "1" },
    });
  });
});

describe("a change that the server rejects is an error with instructions, and changes nothing", () => {
  const streams: readonly [string, Partial<Stream>, Partial<Stream>][] = [
    ["retention, to a work queue", {}, { retention: RetentionPolicy.Workqueue }],
    ["allow_msg_ttl, off", { allow_msg_ttl: true }, { allow_msg_ttl: false }],
    ["allow_msg_schedules, off", { allow_msg_schedules: true }, { allow_msg_schedules: false }],
    ["deny_delete, off", { deny_delete: true }, { deny_delete: false }],
  ];
  test.for(streams)("stream: %s", async ([what, before, after], { expect }) => {
    const name = `refused-${streams.findIndex(([other]) => other === what)}`;
    await bench.start(version(1), events(name, before));
    const found = await streamOf(name);
    await expect(bench.start(version(2), events(name, after))).rejects.toThrow(
      /the server rejects this version of the stream refused-\d: .*migration/,
    );
    expect(await streamOf(name)).toEqual(found);
  });

  test.for([
    ["deliver_policy", { deliver_policy: DeliverPolicy.New }],
    ["ack_policy", { ack_policy: AckPolicy.None }],
    ["max_waiting", { max_waiting: 7 }],
  ] as const)("consumer: %s", async ([what, after], { expect }) => {
    const name = `refused-${what}`;
    await bench.start(version(1), events(name), reader(name));
    await expect(bench.start(version(2), events(name), reader(name, after))).rejects.toThrow(
      /the server rejects this version of the consumer reader of .* can not be updated.*migration/,
    );
  });
});

describe("streams and consumers of a newer program", () => {
  test("are not changed by an older one that starts again", async () => {
    const newer = [events("newer", { max_age: 7200e9 }), reader("newer", { max_ack_pending: 7 })] as const;
    await bench.start(version(2), ...newer);
    await bench.writes();
    await bench.start(version(1), events("newer", { max_age: 9000e9 }), reader("newer"));
    expect(await bench.writes()).toBe(0);
    expect((await consumerOf("newer")).max_ack_pending).toBe(7);
    // The newer program writes nothing at its next start, either.
    await bench.start(version(2), ...newer);
    expect(await bench.writes()).toBe(0);
  });

  test("are an error for an older one that they do not support", async () => {
    await bench.start(version(4, 3), events("strict"), reader("strict"));
    await bench.writes();
    await expect(bench.start(version(2), events("strict"), reader("strict"))).rejects.toThrow(
      "the stream strict on the bus has topology version 4, which requires programs of version 3 or later; this program has version 2",
    );
    await bench.start(version(3), events("strict"), reader("strict"));
    expect(await bench.writes()).toBe(0);
  });

  test("are an error for an older one that would own tickets for longer than the server's AckWait", async () => {
    await bench.start(version(2), events("hasty"), reader("hasty", { ack_wait: 2e9 }));
    await expect(bench.start(version(1), events("hasty"), reader("hasty"))).rejects.toThrow(
      /AckWait of 2 s from a newer program, expected 5 s or longer/,
    );
  });
});

test("creates a stream without its limit when the server cannot reserve that much, and does not retry", async () => {
  const vast = { max_bytes: 2 ** 52 };
  await bench.start(version(1), events("vast", vast), reader("vast"));
  expect((await streamOf("vast")).max_bytes).toBe(-1);
  await bench.writes();
  await bench.start(version(1), events("vast", vast), reader("vast"));
  expect(await bench.writes()).toBe(0);
});

test("keeps what an operator has set: limits, longer ages, metadata", async () => {
  const { jsm } = local.bus;
  await bench.start(version(1), events("own"), reader("own"));
  const chosen = { max_bytes: 1_000_000, max_age: 7200e9, compression: "s2" as never };
  const { metadata } = await streamOf("own");
  await jsm.streams.update("own", { ...chosen, metadata: { ...metadata, team: "a" } });
  await jsm.consumers.update("own", "reader", { metadata: { team: "b" } } as never);
  await bench.writes();
  await bench.start(version(1), events("own"), { ...reader("own") });
  const declared = { description: "new", max_bytes: 2_000_000 };
  await bench.start(version(2), events("own", declared), reader("own"));
  expect(await streamOf("own")).toMatchObject({
    ...chosen,
    description: "new",
    storage: StorageType.File,
    metadata: { team: "a", "denrei.dev/topology": "2" },
  });
  expect((await consumerOf("own")).metadata).toMatchObject({ team: "b", "denrei.dev/topology": "2" });
});
