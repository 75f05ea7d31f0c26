import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resourcePath } from "../../../bus/kube/client.ts";
import { ConfigMap } from "../../../bus/kube/kind.ts";
import { Letter } from "../../fixtures/functions/letters.ts";
import { Probe } from "../../fixtures/functions/probe.ts";
import { type Ket, startKet } from "./index.ts";

const functions = [new URL("../../fixtures/functions/probe.ts", import.meta.url)];
const fixtures = fileURLToPath(new URL("../../fixtures/cases/probe", import.meta.url));

const configMap = (name: string, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data: { text: name },
});
/** ConfigMaps whose names begin with that. */
const named = async (start: string): Promise<string[]> =>
  (await ket.list(ConfigMap)).map(({ metadata }) => metadata.name).filter((name) => name.startsWith(start));

let ket: Ket;
beforeAll(async () => {
  ket = await startKet({ functions, fixtures });
});
afterAll(() => ket?.stop());

test("a case is applied, becomes as it is expected, and is deleted", async () => {
  await ket.apply("steady", async ({ given, found }) => {
    expect(given.map(({ metadata }) => metadata)).toMatchObject([
      { name: "steady", namespace: ket.namespace },
    ]);
    expect(found).toMatchObject([{ status: { value: 3 } }, undefined]);
    expect(await ket.list(Probe)).toHaveLength(1);
  });
  expect(await ket.list(Probe)).toEqual([]);
});

test("a case that does not become as expected tells what there is to know, and is deleted", async () => {
  const error: Error = await ket.apply("givenup", undefined, 5_000).then(
    () => new Error("none"),
    (error) => error,
  );
  // The differences, then each object with all that is known of it.
  const parts = [
    'the case "givenup" did not become as expected within 5000 ms:',
    "Probe given-up .status.value: expected 3, found nothing",
    'Probe given-up .status.conditions[type=Ready].status: expected "True", found "False"',
    `ConfigMap ${ket.namespace}/beside\n  object:`,
    "text: beside",
    `Probe ${ket.namespace}/given-up\n  object:`,
    "reason: ToldSo",
    "  Events:\n    Warning ToldSo: the probe was told to give up",
    "info probing",
    "TerminalError: the probe was told to give up",
    `  queue:\n    probe ${ket.namespace}/given-up: dead letter: ToldSo: the probe was told to give up (1 attempts)`,
  ];
  const places = parts.map((part) => error.message.indexOf(part));
  expect(places, error.message).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(await ket.list(Probe)).toEqual([]);
  expect((await ket.list(ConfigMap)).filter(({ metadata }) => metadata.name === "beside")).toEqual([]);
});

test("what a test does with a case may fail: it is told with all the rest, and the case is deleted", async () => {
  const failing = ket.apply("steady", () => {
    throw new Error("is not what this test wants");
  });
  await expect(failing).rejects.toThrow(/^the case "steady" is not what this test wants\nProbe ket-/);
  expect(await ket.list(Probe)).toEqual([]);
});

test("a case with a kind that there is not says so of that alone, and leaves nothing of the others", async () => {
  const error: Error = await ket.apply("mistyped").then(
    () => new Error("none"),
    (error) => error,
  );
  for (const part of [
    'the case "mistyped" expected the API server to serve Probe in test.denrei.dev/v2',
    "text: before",
    "Probe mistyped: expected the API server to serve Probe in test.denrei.dev/v2",
    `Probe ${ket.namespace}/mistyped\n  object:\n    there is none`,
  ])
    expect(error.message).toContain(part);
  expect(error.message).not.toContain("is still there");
  expect(await named("before")).toEqual([]);
});

test("objects are deleted in the reverse of their order, and those that can not be do not keep the others", async () => {
  const maps = Array.from({ length: 12 }, (_, at) => configMap(`numbered-${at}`));
  const applied = await ket.kubectl.apply(...maps);
  const since = applied.at(-1)?.metadata.resourceVersion;
  const elsewhere = configMap("nowhere", { namespace: "not/a/namespace" });
  await expect(ket.kubectl.delete(...maps, elsewhere)).rejects.toThrow("not/a/namespace");
  const gone: string[] = [];
  const path = resourcePath(ConfigMap, ket.namespace);
  const query = { resourceVersion: since };
  const signal = AbortSignal.timeout(30_000);
  for await (const { object } of await ket.client.watch({ path, query, signal })) {
    const { name, deletionTimestamp } = object.metadata;
    if (deletionTimestamp && name.startsWith("numbered-") && !gone.includes(name)) gone.push(name);
    if (gone.length === maps.length) break;
  }
  expect(gone).toEqual(maps.map(({ metadata }) => metadata.name).toReversed());
  expect(await named("numbered-")).toEqual([]);
});

test("where a request is: delayed until its time, and owned by a worker", async () => {
  const { kubectl } = ket;
  const named = { apiVersion: "test.denrei.dev/v1", kind: "Probe" };
  const probes = ["later", "hang"].map((mode) => ({
    ...named,
    metadata: { name: mode },
    spec: { mode, millis: 600_000 },
  }));
  await kubectl.apply(...probes);
  const log = ket.workers[0]?.log;
  for (const { metadata } of probes)
    await log?.until(
      (line) => line.includes(`"${ket.namespace}/${metadata.name}"`) && line.includes('"probing"'),
    );
  const told = (name: string) =>
    ket.waitFor({ ...named, name }, { status: { value: 1 } }, 3_000).catch((error: Error) => error.message);
  expect(await told("later")).toContain(`probe ${ket.namespace}/later: delayed (until 20`);
  expect(await told("hang")).toContain(`probe ${ket.namespace}/hang: owned by a worker`);
  await kubectl.apply({ ...named, metadata: { name: "hang" }, spec: { mode: "ok" } });
  await kubectl.delete(...probes);
});

test("an object of a kind that is not served is gone", () =>
  ket.waitUntilGone({ kind: Letter, name: "lost" }));

test("a case, a kind and an operator that there is not are named", async () => {
  await expect(ket.apply("nothing")).rejects.toThrow(
    /expected the folder of a case at .*nothing, found none. Cases are: givenup, mistyped, steady/,
  );
  const probe = { apiVersion: "test.denrei.dev/v2", kind: "Probe", metadata: { name: "a" } };
  await expect(ket.kubectl.apply(probe)).rejects.toThrow(
    "expected the API server to serve Probe in test.denrei.dev/v2",
  );
});
