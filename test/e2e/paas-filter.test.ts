/** Which open pull requests get a preview: by labels, branches, drafts, contributors, number, and age. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { annotations } from "../../functions/paas/names.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { idle, type Previews, phasesOf, previewAt, previewsOn, untilNoObjects } from "../harness/previews.ts";
import { has } from "../harness/testobjects.ts";

let paas: Paas;
let previews: Previews;
beforeAll(async () => {
  const names = ["chosen", "strangers", "never", "always", "room", "aged", "excluded"];
  paas = await startPaas({ gateways: 1, repositories: names.map((name) => `acme/${name}`) });
  previews = previewsOn(paas);
});
afterAll(() => paas?.stop());

const phases = (name: string) => async () =>
  phasesOf(await paas.environment.client.get(AppPipeline, { namespace: "default", name }));

test("a pull request has a preview while its labels and base match the filter and it is not a draft", async () => {
  const filter = { labels: ["preview", "web"], baseBranches: ["main", "release/*"], drafts: false };
  await previews.create("chosen", { ...idle, filter });
  const pull = await previews.open("chosen", { draft: true });
  for (const label of ["preview", "web"]) await paas.github.addLabel({ ...pull, label });
  await paas.untilQuiet();
  expect(await phases("chosen")()).toEqual({});
  await paas.github.markReadyForReview(pull);
  await previews.phases("chosen", { 1: "Building" });

  await paas.github.removeLabel({ ...pull, label: "preview" });
  await previews.phases("chosen", {});
  await untilNoObjects(paas, "chosen", 1);
  await paas.github.addLabel({ ...pull, label: "preview" });
  await previews.phases("chosen", { 1: "Building" });

  await paas.github.changeBase({ ...pull, base: "other" });
  await previews.phases("chosen", {});
  await untilNoObjects(paas, "chosen", 1);
  await paas.github.changeBase({ ...pull, base: "release/1.2" });
  await previews.phases("chosen", { 1: "Building" });

  await paas.github.convertToDraft(pull);
  await previews.phases("chosen", {});
  await untilNoObjects(paas, "chosen", 1);
  await paas.patch(AppPipeline, "chosen", { spec: { filter: { drafts: null } } });
  await previews.phases("chosen", { 1: "Building" });
});

test("deletes the preview of an excluded pull request, and creates it again when it is no longer excluded", async () => {
  const exclude = (excluded: readonly number[] | null) =>
    paas.patch(AppPipeline, "excluded", { spec: { filter: { excluded } } });
  await previews.create("excluded", idle);
  await previews.open("excluded");
  const other = await previews.open("excluded");
  await previews.phases("excluded", { 1: "Building", 2: "Building" });
  const kept = await paas.environment.client.get(Application, previewAt("excluded", 2));
  await exclude([1, 99]);
  const [deleted] = await previews.phases("excluded", { 1: "Excluded", 2: "Building" });
  expect(deleted).toMatchObject({ message: expect.stringContaining("spec.filter.excluded") });
  expect(deleted).not.toHaveProperty("application");
  await untilNoObjects(paas, "excluded", 1);
  // A push creates no objects, and a number without an open pull request none either.
  await paas.github.push({ repository: "acme/excluded", branch: deleted?.headRef ?? "" });
  await previews.until("excluded", ({ status }) => status?.previews?.[0]?.headSHA !== deleted?.headSHA);
  await paas.untilQuiet();
  expect(await previews.numbers("excluded")).toEqual({ applications: [2], remoteSyncs: [2] });
  expect(await paas.environment.client.get(Application, previewAt("excluded", 2))).toEqual(kept);
  for (const refused of [[1, 1], [0], Array.from({ length: 1001 }, (_, at) => at + 1)])
    await expect(exclude(refused)).rejects.toThrow(/spec\.filter\.excluded/);

  await exclude([2, 99]);
  await previews.phases("excluded", { 1: "Building", 2: "Excluded" });
  await untilNoObjects(paas, "excluded", 2);
  await paas.github.closePullRequest(other);
  await previews.phases("excluded", { 1: "Building" });
  const { status } = await exclude(null).then(() => previews.until("excluded", has("Ready", "True")));
  expect(status?.open).toBe(1);
});

test("builds only the approved commit of an outside contributor's pull request", async () => {
  const label = "preview-approved";
  const fork = "stranger/strangers";
  const secretKeyRef = { name: "api", key: "token" };
  await previews.create("strangers", {
    applicationTemplate: {
      spec: {
        env: [
          { name: "TOKEN", valueFrom: { secretKeyRef } },
          { name: "MODE", value: "preview" },
        ],
        envFrom: [{ secretRef: { name: "api" } }],
      },
    },
  });
  const pull = await previews.open("strangers", { fork, branch: "change" });
  await previews.phases("strangers", { 1: "NeedsApproval" });
  await paas.untilQuiet();
  expect(await previews.numbers("strangers")).toEqual({ applications: [], remoteSyncs: [] });
  expect(
    (await paas.environment.list(Image)).filter(({ metadata }) => /strangers/.test(metadata.name)),
  ).toEqual([]);

  await paas.github.addLabel({ ...pull, label });
  const [shown] = await previews.phases("strangers", { 1: "Ready" });
  expect(shown).toMatchObject({ fork, approvedSHA: pull.headSha, headSHA: pull.headSha });
  const app = await paas.environment.client.get(Application, previewAt("strangers", 1));
  expect([app.spec.env, app.spec.envFrom]).toEqual([[{ name: "MODE", value: "preview" }], []]);

  const { after } = await paas.github.push({ repository: fork, branch: "change" });
  const behind = await previews.until("strangers", ({ status }) => status?.previews?.[0]?.headSHA === after);
  expect(behind.status?.previews?.[0]).toMatchObject({ phase: "Ready", approvedSHA: pull.headSha });
  expect(behind.status?.previews?.[0]?.message).toContain("later commits are not approved");
  await paas.untilQuiet();
  const sync = await paas.environment.client.get(RemoteSync, previewAt("strangers", 1));
  expect(sync.status?.revision).toBe(pull.headSha);

  await paas.github.removeLabel({ ...pull, label });
  await previews.phases("strangers", { 1: "NeedsApproval" });
  await untilNoObjects(paas, "strangers", 1);
  await paas.github.addLabel({ ...pull, label });
  const [again] = await previews.phases("strangers", { 1: "Ready" });
  expect(again?.approvedSHA).toBe(after);
  const built = await paas.environment.client.get(RemoteSync, previewAt("strangers", 1));
  expect(built.status?.revision).toBe(after);

  // The label is set and a commit is pushed before the pipeline learns of either.
  const refresh = (times: number) =>
    paas.patch(AppPipeline, "strangers", {
      metadata: { annotations: { [annotations.refreshedAt]: `${times}` } },
    });
  paas.github.deliverTo([]);
  await paas.github.removeLabel({ ...pull, label });
  await paas.github.addLabel({ ...pull, label });
  const { after: late } = await paas.github.push({ repository: fork, branch: "change" });
  await refresh(1);
  // The approval was removed with the label, and the labeled commit is unknown.
  const unapproved = {
    phase: "NeedsApproval",
    approvalProblem: expect.stringContaining("may have been added to an earlier commit"),
  };
  const raced = await previews.until("strangers", ({ status }) => status?.previews?.[0]?.headSHA === late);
  expect(raced.status?.previews?.[0]).toMatchObject(unapproved);
  expect(raced.status?.previews?.[0]?.approvedSHA).toBeUndefined();
  await paas.github.approve({ ...pull, by: "stranger" });
  await paas.github.approve({ ...pull, commit: after });
  await refresh(2);
  const refreshed = await previews.until("strangers", ({ status }) => status?.refreshedAt === "2");
  expect(refreshed.status?.previews?.[0]).toMatchObject(unapproved);
  expect(refreshed.status?.previews?.[0]?.approvedSHA).toBeUndefined();
  await paas.github.approve(pull);
  await refresh(3);
  await previews.until("strangers", ({ status }) => status?.previews?.[0]?.approvedSHA === late);
  paas.github.deliverTo(paas.gateways.map((gateway) => gateway.hookUrl()));
  const [reviewed] = await previews.phases("strangers", { 1: "Ready" });
  expect(reviewed).toMatchObject({ approvedSHA: late, approvedWith: "review" });
});

test("gives pull requests of outside contributors no preview, or a normal one, as the pipeline configures", async () => {
  await previews.create("never", { ...idle, filter: { forks: "Never" } });
  await previews.create("always", { ...idle, filter: { forks: "Always" } });
  for (const name of ["never", "always"]) {
    await previews.open(name, { fork: `stranger/${name}` });
    await previews.open(name);
  }
  await previews.phases("never", { 2: "Building" });
  await previews.phases("always", { 1: "Building", 2: "Building" });
  expect((await previews.numbers("never")).applications).toEqual([2]);
});

test("limits the number of previews: existing ones stay, and the next one starts when one ends", async () => {
  await previews.create("room", { ...idle, maxPreviews: 2 });
  const first = await previews.open("room");
  await previews.open("room");
  await previews.phases("room", { 1: "Building", 2: "Building" });
  await previews.open("room");
  await previews.open("room");
  await previews.phases("room", { 1: "Building", 2: "Building", 3: "Waiting", 4: "Waiting" });
  expect((await previews.numbers("room")).applications).toEqual([1, 2]);
  await paas.github.closePullRequest(first);
  await previews.phases("room", { 2: "Building", 3: "Building", 4: "Waiting" });
  await paas.github.reopenPullRequest(first);
  await previews.phases("room", { 1: "Waiting", 2: "Building", 3: "Building", 4: "Waiting" });
  await paas.patch(AppPipeline, "room", { spec: { maxPreviews: 4 } });
  await previews.phases("room", { 1: "Building", 2: "Building", 3: "Building", 4: "Building" });
});

test("deletes a preview without recent commits, and restores it for a new commit", async () => {
  const begun = performance.now();
  await previews.create("aged", idle);
  const pull = await previews.open("aged", { branch: "change" });
  await previews.phases("aged", { 1: "Building" });
  // As long as that took, and some more.
  const ttl = `${Math.ceil((performance.now() - begun) / 1000) + 8}s`;
  const { metadata } = await paas.patch(AppPipeline, "aged", { spec: { ttl } });
  await previews.until("aged", ({ status }) => status?.listedGeneration === metadata.generation);
  const lists = previews.requests("aged").filter(({ path }) => /\/pulls\?/.test(path)).length;
  await previews.phases("aged", { 1: "Expired" });
  await untilNoObjects(paas, "aged", 1);
  expect(previews.requests("aged").filter(({ path }) => /\/pulls\?/.test(path))).toHaveLength(lists);
  // Observed from the start: it does not stay.
  await Promise.all([
    previews.until("aged", ({ status }) => status?.previews?.[0]?.application !== undefined),
    paas.github.push({ repository: pull.repository, branch: "change" }),
  ]);
  await paas.patch(AppPipeline, "aged", { spec: { ttl: null } });
  await previews.phases("aged", { 1: "Building" });
  await paas.environment.until(Application, previewAt("aged", 1), () => true);
});
