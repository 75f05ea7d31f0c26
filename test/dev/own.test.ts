/** `denrei dev` with KUBECONFIG and NATS_URL: an existing cluster and bus. */
import { expect, test } from "vitest";
import { installCrds } from "../../bus/kube/install.ts";
import { Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { testFolder } from "../cli/program.ts";
import { createNamespace, optIn } from "../harness/namespaces.ts";
import { project, startDevThere } from "./project.ts";
import { source } from "./stonecode.ts";
import { firstMark, put, specFields, stone, untilMarked } from "./stones.ts";

const pebble = "stones/pebble.ts";
/** A namespace that `denrei dev` must not touch; the first in every list. */
const otherNamespace = "another";

const file = "secrets/tally.ts";
/** A function that reconciles Secrets. */
const tally = (code: number): string => `
import { defineFunction, Secret } from "denrei";

export default defineFunction({
  name: "tally",
  for: Secret,
  async reconcile(secret, ctx) {
    ctx.log.info("reconciled by code ${code}");
  },
});
`;

test("saves affect only the selected namespaces, and remove nothing from a CRD", async () => {
  const here = testFolder();
  const mine = project(here);
  const colourful = { spec: "colour: z.string().optional()," };
  mine.save(pebble, source(colourful));
  const { client, printed, running } = await startDevThere(mine, [], { DENREI_NAMESPACES: "default" });
  await createNamespace(client, otherNamespace);
  await put(client, "theirs", { namespace: otherNamespace });
  await put(client, "first");
  expect(await firstMark(client, "first")).toBe("1");

  // Requests of the first save are complete when those of the second are.
  for (const mark of ["2", "3"]) {
    mine.save(pebble, source({ ...colourful, mark }));
    await printed(`Code ${mark} runs`);
    await untilMarked(client, "first", mark);
  }
  expect((await stone(client, "theirs", "Pebble", otherNamespace)).status).toBeUndefined();

  mine.save(pebble, source({ mark: "4" }));
  await printed("The new code does not start. Code 3 keeps running.");
  const advice = await printed("has more than this version knows: v1 .spec.colour: others may use it");
  expect(await specFields(client)).toEqual(["colour", "ticks"]);
  await put(client, "second");
  expect(await firstMark(client, "second")).toBe("3");

  // Follow the advice.
  expect(advice).toContain("npx denrei crds | kubectl apply --server-side --force-conflicts -f -");
  const { items } = JSON.parse((await mine.start(["crds", "--json"]).ended).stdout);
  const signal = AbortSignal.timeout(60_000);
  await installCrds(client, items, { fieldManager: "kubectl", lostFields: "drop", signal });
  mine.save(pebble, source({ mark: "5" }));
  await printed("Code 4 runs");
  await untilMarked(client, "second", "5");
  expect(await specFields(client)).toEqual(["ticks"]);

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("new code reconciles only the Secrets of opted-in namespaces", async () => {
  const here = testFolder();
  const mine = project(here);
  mine.save(file, tally(1));
  mine.saveConfig({ tally: file });
  const { client, printed, running } = await startDevThere(mine);
  // The namespace that is not opted in is the first in every list.
  for (const namespace of ["closed", "open"]) {
    await createNamespace(client, namespace);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "one" } };
    await client.create(Secret, secret as unknown as KubeObject, { fieldManager: "test" });
  }
  await optIn(client, "open");
  await printed(/ tally open\/one {2}reconciled by code 1$/);
  for (const code of [2, 3]) {
    mine.save(file, tally(code));
    await printed(new RegExp(` tally open/one {2}reconciled by code ${code}$`));
  }
  expect(running.lines.all.filter((line) => line.includes("tally closed/"))).toEqual([]);

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
