/** Three bridges: one leads each kind, another takes over, and two leaders at once do no harm. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { holderIn } from "../../bus/bridge/lease.ts";
import { leaseKey } from "../../bus/bridge/position.ts";
import { ConfigMap, type Kind, kindText, Secret } from "../../bus/kube/kind.ts";
import { compareVersions } from "../../bus/kube/object.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { type Bridged, type BridgeReplica, startBridged, startChurn } from "../harness/bridged.ts";
import { sized } from "../harness/size.ts";

const kinds: Kind[] = [Note, Secret, ConfigMap];
const names = Array.from({ length: 10 }, (_, i) => `note-${i}`);
let bridged: Bridged;
/** All processes of each replica. */
const lives = new Map<string, BridgeReplica[]>();

async function start(replica: string): Promise<BridgeReplica> {
  const bridge = await bridged.bridge(replica);
  lives.set(replica, [...(lives.get(replica) ?? []), bridge]);
  return bridge;
}
const running = (): BridgeReplica[] => [...lives.values()].flatMap((all) => all.slice(-1));

beforeAll(async () => {
  bridged = await startBridged();
  await Promise.all(["bridge-a", "bridge-b", "bridge-c"].map(start));
});
afterAll(() => bridged?.stop());

const lease = leaseKey("default", Note);
const holder = async (): Promise<string> => holderIn((await bridged.kv.get(lease))?.string() ?? "");
/** Waits until the leader of Note has changed, and returns the new one. */
async function untilLedBy(condition: (replica: string) => boolean): Promise<BridgeReplica> {
  await expect.poll(async () => condition(await holder()), { timeout: 60_000, interval: 20 }).toBe(true);
  return lives.get(await holder())?.at(-1) as BridgeReplica;
}
const isSomebody = (replica: string) => replica !== "";

/** Asserts that nothing is missing, nothing went backwards, and only the very first leader listed. */
async function expectSound(): Promise<void> {
  for (const kind of kinds) await bridged.untilAgreed(kind);
  expect(bridged.history.disorder()).toEqual([]);
  const all = [...lives.values()].flat();
  expect(all.flatMap((bridge) => bridge.logged("listed", Note))).toHaveLength(1);
}

test("one of three bridges leads a kind, and each change is published once", async () => {
  await untilLedBy(isSomebody);
  await Promise.all(names.map((name) => bridged.create(name)));
  await expectSound();
  const sum = async (read: (bridge: BridgeReplica) => Promise<number>) =>
    (await Promise.all(running().map(read))).reduce((a, b) => a + b);
  for (const kind of kinds)
    await expect
      .poll(() => sum((bridge) => bridge.metric("denrei_bridge_leading", { kind: kindText(kind) })))
      .toBe(1);
  expect(await sum(async (bridge) => (await bridge.counts(Note)).added)).toBe(names.length);
});

test("an orderly stop releases the lease before another bridge takes it", async () => {
  const first = await untilLedBy(isSomebody);
  const seen: string[] = [];
  const watch = await bridged.kv.watch({ key: lease });
  onTestFinished(() => watch.stop());
  void (async () => {
    for await (const entry of watch) {
      const name = holderIn(entry.string());
      if (name !== seen.at(-1)) seen.push(name);
    }
  })();
  await first.stop();
  const second = await untilLedBy((replica) => isSomebody(replica) && replica !== first.name);
  await expect.poll(() => seen).toEqual([first.name, "", second.name]);
  await start(first.name);
  await bridged.change("note-0");
  await expectSound();
});

test("a leader killed (-9) while objects change is replaced, and nothing is lost", async () => {
  const churn = startChurn(bridged, names);
  for (let times = 0; times < sized(1, 2); times++) {
    const leader = await untilLedBy(isSomebody);
    await churn.more(50);
    await leader.kill();
    const next = await untilLedBy((replica) => isSomebody(replica) && replica !== leader.name);
    await churn.more(50);
    expect(next.name).not.toBe(leader.name);
    await start(leader.name);
  }
  await churn.stop();
  await expectSound();
});

test("a leader paused for longer than its lease steps down and does not take it back", async () => {
  const sleeper = await untilLedBy(isSomebody);
  const pid = sleeper.pid ?? 0;
  const churn = startChurn(bridged, names);
  await churn.more(50);
  process.kill(pid, "SIGSTOP");
  onTestFinished(() => {
    if (sleeper.pid === pid) process.kill(pid, "SIGCONT");
  });
  const next = await untilLedBy((replica) => isSomebody(replica) && replica !== sleeper.name);
  await churn.more(100);
  await churn.stop();
  await bridged.untilSettled(Note);
  const saved = await bridged.position(Note, (position) => position.holder === next.name);
  const count = bridged.history.of(Note).length;
  const from = sleeper.log.all.length;
  process.kill(pid, "SIGCONT");
  const standsBy = (line: string) => line.includes('"standing by"') && line.includes(kindText(Note));
  await sleeper.log.until(standsBy, 60_000, from);
  expect(await sleeper.metric("denrei_bridge_leading", { kind: kindText(Note) })).toBe(0);
  // Anything it still has in flight is outdated.
  expect(bridged.history.of(Note)).toHaveLength(count);
  expect(await holder()).toBe(next.name);
  const after = await bridged.position(Note);
  expect(after.holder).toBe(next.name);
  expect(compareVersions(after.resourceVersion, saved.resourceVersion)).toBeGreaterThanOrEqual(0);
  await bridged.change("note-0").catch(() => bridged.create("note-0"));
  await expectSound();
});

test("repeatedly having two leaders while objects change keeps the order and loses nothing", async () => {
  /** How often a leader started before its predecessor had stepped down. */
  const overlaps = (): number => {
    const all = [...lives.values()].flat();
    const spans = all.flatMap((bridge) => {
      const begun = bridge.logged("leading", Note).map(({ time }) => String(time));
      const ended = bridge.logged("standing by", Note).map(({ time }) => String(time));
      return begun.map((from, i) => ({ from, to: ended[i] ?? "9" }));
    });
    spans.sort((a, b) => a.from.localeCompare(b.from));
    return spans.filter((span, i) => (spans[i - 1]?.to ?? "") > span.from).length;
  };
  const earlier = overlaps();
  const churn = startChurn(bridged, names);
  while (overlaps() < earlier + sized(2, 4)) {
    const leader = await untilLedBy(isSomebody);
    await churn.more(20);
    // The old leader learns of the new one when it renews; until then both lead.
    await bridged.kv.put(lease, "");
    await untilLedBy((replica) => isSomebody(replica) && replica !== leader.name);
    await churn.more(20);
  }
  await churn.stop();
  await expectSound();
});

test("survives a bus killed (-9) while objects change", async () => {
  const { nats } = bridged.environment.platform;
  const churn = startChurn(bridged, names);
  for (let times = 0; times < sized(1, 2); times++) {
    await churn.more(50);
    await nats.stop("SIGKILL");
    await churn.more(50);
    await nats.start();
    await churn.more(50);
  }
  await churn.stop();
  await expectSound();
});
