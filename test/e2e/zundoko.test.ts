/** The acceptance list of Zundoko on a real control plane, with three replicas. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import type { Kind } from "../../bus/kube/kind.ts";
import type { Condition } from "../../bus/kube/object.ts";
import { saidAtAnnotation } from "../../functions/zundoko/hikawa.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { type Kit, startKit } from "../harness/kit.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";

let kit: Kit;
const at = (name: string) => ({ namespace: "default", name });
const create = (object: Hikawa) => kit.client.create(Hikawa, object, { fieldManager: "test" });
const condition = (object: { status?: { conditions?: Condition[] | undefined } | undefined }, type: string) =>
  object.status?.conditions?.find((one) => one.type === type);

beforeAll(async () => {
  kit = await startKit({ controllerManager: "run" });
  // Chance may sing for minutes; that it ends is for the tests of the song.
  const env = { [wordsVariable]: "Doko,Zun,Zun,Doko,Zun,Zun,Zun,Zun,Doko" };
  await Promise.all([
    kit.bridge("bridge-1"),
    ...[1, 2, 3].map((n) => kit.worker(`worker-${n}`, ["hikawa"], { env })),
  ]);
});
afterAll(() => kit?.stop());

test("the seed's sample applies unchanged and ends with Kiyoshi", async () => {
  const text = await readFile(new URL("../../functions/zundoko/sample.yaml", import.meta.url), "utf8");
  const sample = parse(text) as Hikawa;
  await create({ ...sample, metadata: { ...sample.metadata, namespace: "default" } });
  const done = await kit.until(Hikawa, at("hikawa-sample"), isFinished, 110_000);
  await expectFinishedSongs(kit, ["hikawa-sample"]);
  expect(condition(done, "Ready")).toMatchObject({ status: "True", reason: "Kiyoshied" });
  expect(condition(done, "Progressing")).toMatchObject({ status: "False" });
  const { items } = await kit.client.list(Zundoko, "default");
  const times = items
    .filter(({ metadata }) => metadata.name.startsWith("hikawa-sample-"))
    .map(({ metadata }) => Date.parse(metadata.annotations?.[saidAtAnnotation] ?? ""))
    .sort((a, b) => a - b);
  for (const [i, time] of times.entries()) {
    if (i > 0) expect(time - (times[i - 1] ?? 0), "pause between two words").toBeGreaterThanOrEqual(500);
  }
});

test("forty at once on three replicas: no gap, no duplicate", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `many-${i}`);
  await Promise.all(names.map((name) => create(hikawa(name, 0))));
  await Promise.all(names.map((name) => kit.until(Hikawa, at(name), isFinished)));
  await expectFinishedSongs(kit, names);
});

test("a word that is deleted by hand is said again, and a deleted Kiyoshi is restored", async () => {
  await create(hikawa("mended", 0));
  const done = await kit.until(Hikawa, at("mended"), isFinished);
  const last = `mended-zundoko-${String(done.status?.numZundokosSaid).padStart(3, "0")}`;
  for (const [kind, name] of [
    [Zundoko as Kind, last],
    [Kiyoshi as Kind, "mended-kiyoshi"],
  ] as const) {
    const before = await kit.client.get(kind, at(name));
    await kit.client.delete(kind, at(name), {});
    await kit.until(kind, at(name), ({ metadata }) => metadata.uid !== before.metadata.uid);
  }
  await expectFinishedSongs(kit, ["mended"]);
});

test("deleting the Hikawa removes its children", async () => {
  await create(hikawa("deleted", 0));
  await kit.until(Hikawa, at("deleted"), isFinished);
  await kit.client.delete(Hikawa, at("deleted"), {});
  await kit.untilGone(Kiyoshi, at("deleted-kiyoshi"));
  await kit.untilGone(Zundoko, at("deleted-zundoko-001"));
});

test("words of an earlier Hikawa of the same name do not count", async () => {
  await create(hikawa("again", 0));
  const first = await kit.until(Hikawa, at("again"), isFinished);
  await kit.client.delete(Hikawa, at("again"), {});
  await kit.untilGone(Hikawa, at("again"));
  await create(hikawa("again", 0));
  await kit.until(
    Hikawa,
    at("again"),
    (found) => found.metadata.uid !== first.metadata.uid && isFinished(found),
    110_000,
  );
  await expectFinishedSongs(kit, ["again"]);
});

test("a foreign Kiyoshi of the wanted name is never overwritten and shows in a condition", async () => {
  const foreign = { apiVersion: "zundokokiyoshi.kaitoy.github.com/v1beta1", kind: "Kiyoshi" };
  await kit.client.create(
    Kiyoshi,
    { ...foreign, metadata: { name: "taken-kiyoshi", namespace: "default" }, spec: { say: "Kiyoshi!" } },
    { fieldManager: "test" },
  );
  await create(hikawa("taken", 0));
  const blocked = await kit.until(
    Hikawa,
    at("taken"),
    (found) => condition(found, "Ready")?.reason === "NameTaken",
  );
  expect(condition(blocked, "Ready")?.message).toContain("taken-kiyoshi");
  expect(condition(blocked, "Stalled")?.status).toBe("True");
  await kit.client.delete(Kiyoshi, at("taken-kiyoshi"), {});
  const done = await kit.until(Hikawa, at("taken"), isFinished);
  expect(
    condition(await kit.until(Hikawa, at("taken"), (found) => !condition(found, "Stalled")), "Ready")?.status,
  ).toBe("True");
  expect(done.status?.kiyoshied).toBe(true);
  await expectFinishedSongs(kit, ["taken"]);
});

test("a name that leaves no room for children gives a condition and a dead letter, not a hot loop", async () => {
  const name = "n".repeat(250);
  await create(hikawa(name, 0));
  const found = await kit.until(
    Hikawa,
    at(name),
    (object) => condition(object, "Stalled")?.status === "True",
  );
  expect(condition(found, "Ready")).toMatchObject({ status: "False", reason: "NameTooLong" });
  expect(condition(found, "Ready")?.message).toContain("9 shorter");
});

test.each([
  [{ intervalMillis: -1 }, "spec.intervalMillis"],
  [{ intervalMillis: "soon" }, "spec.intervalMillis"],
  [{}, "spec.intervalMillis"],
  [{ intervalMillis: 0, numZundokos: -3 }, "spec.numZundokos"],
])("an invalid Hikawa is refused with the field's name: %j", async (spec, field) => {
  const object = { ...hikawa("invalid", 0), spec } as Hikawa;
  await expect(create(object)).rejects.toThrow(field);
});

test("an invalid word is refused with the field's name", async () => {
  const object = { ...hikawa("invalid", 0), kind: "Zundoko", spec: { say: "Dozun" } } as unknown as Zundoko;
  await expect(kit.client.create(Zundoko, object, { fieldManager: "test" })).rejects.toThrow("spec.say");
});
