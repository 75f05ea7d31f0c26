/** `denrei dev`: what nobody should read everywhere is not asked for everywhere after a save either. */
import { expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { place } from "../cli/program.ts";
import { createNamespace, optIn } from "../harness/namespaces.ts";
import { project, startDev } from "./project.ts";

const file = "secrets/tally.ts";
const source = (code: number): string => `
import { Secret } from "../../bus/kube/kind.ts";
import { defineFunction } from "../../bus/worker/function.ts";

export default defineFunction({
  name: "tally",
  for: Secret,
  async reconcile(secret, ctx) {
    ctx.log.info("looked at by code ${code}");
  },
});
`;

test("new code is asked for Secrets of the namespaces alone that are opted in", async () => {
  const here = place();
  const mine = project(here);
  mine.save(file, source(1));
  mine.saveCatalog({ tally: file });
  const { client, printed, running } = await startDev(mine, []);
  // The first in every list is the one that is not opted in.
  for (const namespace of ["closed", "open"]) {
    await createNamespace(client, namespace);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "one" } };
    await client.create(Secret, secret as unknown as KubeObject, { fieldManager: "test" });
  }
  await optIn(client, "open");
  await printed(/ tally open\/one {2}looked at by code 1$/);
  for (const code of [2, 3]) {
    mine.save(file, source(code));
    await printed(new RegExp(` tally open/one {2}looked at by code ${code}$`));
  }
  expect(running.lines.all.filter((line) => line.includes("tally closed/"))).toEqual([]);

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
}, 240_000);
