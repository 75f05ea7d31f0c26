/** A new stack rebuilds every Image of a builder at once: previews when that fails. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { failStep } from "../../deploy/simulators/kpack/podannotations.ts";
import { Build, Image } from "../../functions/paas/kinds/kpack.ts";
import { Application, AppPipeline } from "../../functions/paas/kinds.ts";
import { kpack } from "../../functions/paas/names.ts";
import { githubReports } from "../harness/githubreports.ts";
import { type Paas, polling, startPaas } from "../harness/paas.ts";
import { type Previews, previewAt, previewsOn } from "../harness/previews.ts";
import { numberOf } from "../harness/remotesyncs.ts";
import { has } from "../harness/testobjects.ts";

const [name, numbers] = ["shop", [1, 2]];

let paas: Paas;
let previews: Previews;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1, repositories: [`acme/${name}`] });
  previews = previewsOn(paas);
});
afterAll(() => paas?.stop());

const nameOf = (number: number) => previewAt(name, number).name;
const imageOf = (number: number) => `modoki-${nameOf(number)}`;
const deployed = async (number: number) =>
  (await paas.environment.client.get(Application, previewAt(name, number))).spec.image;
const comment = async (number: number) => (await githubReports(paas, name).comments(number))[0]?.body;

/** Controls the pods of the next Builds of all previews. */
async function steer(step: string | null): Promise<void> {
  for (const number of numbers)
    await paas.patch(Image, imageOf(number), { metadata: { annotations: { [failStep]: step } } });
  // The next steps change a builder or Builds, whose events can arrive before those of the Images.
  await paas.kpack.caughtUp();
}

test("previews stay ready with a warning when the rebase of their images fails, until a later rebuild succeeds", async () => {
  const pulls = [await previews.open(name), await previews.open(name)];
  await previews.create(name, { report: { deployment: true } });
  await previews.phases(name, { 1: "Ready", 2: "Ready" });
  for (const { number, headSha } of pulls) {
    await expect
      .poll(async () => (await githubReports(paas, name).statuses(headSha))[0]?.state, polling)
      .toBe("success");
    await expect.poll(() => comment(number), polling).toContain("| State | Ready |");
  }
  await paas.untilQuiet();
  const before = await Promise.all(numbers.map(deployed));
  const statuses = await Promise.all(pulls.map(({ headSha }) => githubReports(paas, name).statuses(headSha)));

  await steer("rebase");
  await paas.kpack.newStack();
  const { status } = await previews.until(name, (pipeline) =>
    Boolean(pipeline.status?.previews?.every(({ warning }) => warning !== undefined)),
  );
  expect(status?.previews?.map(({ phase, message }) => ({ phase, message }))).toEqual([
    { phase: "Ready" },
    { phase: "Ready" },
  ]);
  expect(status?.previews?.[0]?.warning).toMatch(/^build 2 failed in the step rebase: .*\(STACK\)/);
  for (const number of numbers) {
    await expect
      .poll(() => comment(number), polling)
      .toMatch(/State \| Ready[\s\S]*```[\s\S]*the step rebase/);
    await expect
      .poll(async () => (await paas.events(nameOf(number))).map(({ reason }) => reason), polling)
      .toContain("RebuildFailed");
  }
  await expect
    .poll(
      async () => (await paas.events(name)).filter(({ reason }) => reason === "PreviewWarning").length,
      polling,
    )
    .toBe(numbers.length);
  await paas.untilQuiet();
  expect(await Promise.all(numbers.map(deployed))).toEqual(before);
  // The commits themselves are fine.
  expect(await Promise.all(pulls.map(({ headSha }) => githubReports(paas, name).statuses(headSha)))).toEqual(
    statuses,
  );
  await paas.environment.until(AppPipeline, { name }, has("Ready", "True"));

  await steer(null);
  const builds = await paas.environment.list(Build);
  for (const build of builds.filter((one) => numberOf(one) === 2))
    await paas.patch(Build, build.metadata.name, { metadata: { annotations: { [kpack.rebuild]: "test" } } });
  await previews.until(name, (pipeline) =>
    Boolean(
      pipeline.status?.previews?.every(({ warning, phase }) => warning === undefined && phase === "Ready"),
    ),
  );
  for (const [at, number] of numbers.entries()) {
    await expect.poll(() => deployed(number), polling).not.toBe(before[at]);
    await expect.poll(() => comment(number), polling).not.toContain("rebase");
  }
  await previews.phases(name, { 1: "Ready", 2: "Ready" });
});
