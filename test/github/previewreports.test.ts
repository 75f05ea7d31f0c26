/** The function `modoki-report` when GitHub rejects reports or a name leads to another repository. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { githubApp } from "../../bus/github/app.ts";
import { parsePrivateKey } from "../../bus/github/key.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { type ConditionUpdate, withConditions } from "../../bus/kube/conditions.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Cause } from "../../bus/queue/request.ts";
import type { Context } from "../../bus/worker/function.ts";
import { mergePatched } from "../../bus/worker/writes.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import type { AppPipeline, Preview } from "../../functions/paas/kinds.ts";
import report from "../../functions/paas/report.ts";
import { base64 } from "../harness/secretvalues.ts";

const minutes = (n: number): number => n * 60_000;
const start = Date.parse("2026-11-26T12:00:00Z");
const names = [
  "locked",
  "archived",
  "many",
  "deleted",
  "away",
  "replaced",
  "renamed",
  "one",
  "two",
  "closed",
];

let github: SimulatedGitHub;
let token: string;
let allowedBefore: string | undefined;
beforeAll(async () => {
  github = await startGitHub({ repositories: names.map((name) => `acme/${name}`) });
  allowedBefore = process.env[allowedUrlsVariable];
  process.env[allowedUrlsVariable] = github.url;
  const [app] = github.apps;
  if (app === undefined) throw new Error("expected an App");
  const key = parsePrivateKey(app.privateKey);
  const asApp = githubApp({
    ...{ url: github.url, allowed: [github.url] },
    ...{ appId: app.id, key, limits: rateLimits() },
  });
  token = (await asApp.mintToken(app.installations[0]?.id ?? 0)).token;
});
afterAll(async () => {
  if (allowedBefore === undefined) delete process.env[allowedUrlsVariable];
  else process.env[allowedUrlsVariable] = allowedBefore;
  await github?.stop();
});

const idOf = async (repository: string): Promise<number> =>
  (await github.api<{ id: number }>("GET", `/repos/${repository}`)).id;
const commentsOf = async (repository: string, number = 1): Promise<string[]> =>
  (await github.api<{ body: string }[]>("GET", `/repos/${repository}/issues/${number}/comments`)).map(
    ({ body }) => body,
  );

/** An in-memory pipeline with listed pull requests, and calls of the function. */
async function pipelineOf(repo: string) {
  let now = start;
  const events: string[] = [];
  const fullName = `acme/${repo}`;
  let pipeline = {
    apiVersion: "modoki.tsuzu.dev/v1alpha1",
    kind: "AppPipeline",
    metadata: { namespace: "team-a", name: repo, uid: repo, resourceVersion: "1", generation: 1 },
    spec: {
      domainBase: "example.com",
      applicationTemplate: {},
      base: { github: { owner: "acme", repo, secretName: "token" } },
      image: { name: "registry.example.com/acme/web" },
      report: { commitStatus: false },
    },
    status: { previews: [], repository: { name: fullName, id: await idOf(fullName), fullName } },
  } as unknown as Stored<AppPipeline>;
  const secret = {
    type: "kubernetes.io/basic-auth",
    metadata: { name: "token", annotations: { "kpack.io/git": github.url } },
    data: { password: base64(token) },
  };
  const contextFor = (...causes: Cause[]) =>
    ({
      key: { namespace: "team-a", name: repo },
      cluster: "prod",
      causes,
      signal: new AbortController().signal,
      log: { warn() {} },
      now: () => now,
      assertOwned() {},
      event: (type: string, reason: string, note: string) => events.push(`${type} ${reason} ${note}`),
      read: { get: async () => undefined },
      live: { get: async ({ kind }: { kind: string }) => (kind === "Secret" ? secret : undefined) },
      async status(_: unknown, object: Stored<AppPipeline>, status: object, updates?: ConditionUpdate[]) {
        const conditions =
          updates &&
          withConditions(object.status?.conditions as never, updates, { generation: 1, now: new Date(now) });
        const merged = mergePatched(object.status, { ...status, ...(conditions && { conditions }) });
        pipeline = { ...object, status: merged } as Stored<AppPipeline>;
        return pipeline;
      },
    }) as unknown as Context;
  return {
    events,
    status: () => pipeline.status,
    reported: () => pipeline.status?.conditions?.find(({ type }) => type === "Reported"),
    after(millis: number) {
      now += millis;
    },
    change(changes: object) {
      pipeline = mergePatched(pipeline, changes) as Stored<AppPipeline>;
    },
    /** Sets the previews of the next listing, all in this phase. */
    async show(numbers: readonly number[], phase: Preview["phase"] = "Ready", ...causes: Cause[]) {
      const of = (number: number) => ({ number, headSHA: "a".repeat(40), since: "2026-11-26T12:00:00Z" });
      const previews = numbers.map((number) => ({ ...of(number), phase, url: "https://pr.example.com" }));
      pipeline = mergePatched(pipeline, { status: { previews } }) as Stored<AppPipeline>;
      return report.reconcile(pipeline, contextFor(...causes));
    },
    /** Deletes the pipeline. Resolves to the number of calls until the finalizer is removed; one of them waits `stepMillis`. */
    async deleted(mostCalls: number, stepMillis?: number): Promise<number> {
      const deletionTimestamp = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
      pipeline = mergePatched(pipeline, { metadata: { deletionTimestamp } }) as Stored<AppPipeline>;
      for (let calls = 1; calls <= mostCalls; calls++) {
        const again = await report.finalize?.(pipeline, contextFor());
        if (again?.requeueAfter === undefined) return calls;
        now += stepMillis ?? again.requeueAfter;
      }
      return expect.fail(`expected the pipeline to go within ${mostCalls} calls`);
    },
  };
}

type Restricted = { readonly restrict: () => Promise<void> | void; readonly words: string };
const restrictions: Record<"locked" | "archived", Restricted> = {
  locked: {
    restrict: () => github.lockConversation({ repository: "acme/locked", number: 1 }),
    words: "conversation of the pull request is locked",
  },
  archived: {
    restrict: () => void github.restrict("acme/archived", "archived"),
    words: "The repository is archived",
  },
};

test.each(Object.entries(restrictions))(
  "removes the finalizer at once when the repository is %s, and lists missing reports in an Event",
  async (name, { restrict, words }) => {
    await github.openPullRequest({ repository: `acme/${name}` });
    const pipeline = await pipelineOf(name);
    await pipeline.show([1]);
    expect(pipeline.reported()?.status).toBe("True");
    await restrict();
    expect(await pipeline.deleted(1)).toBe(1);
    expect(pipeline.events).toHaveLength(1);
    expect(pipeline.events[0]).toMatch(/^Warning ReportIncomplete .*\(#1\)/);
    expect(pipeline.events[0]).toContain(words);
    expect((await commentsOf(`acme/${name}`))[0]).toMatch(/State \| Ready/);
  },
);

test("retries all rejected reports once when the pipeline is deleted", async () => {
  const numbers: number[] = [];
  for (let i = 0; i < 22; i++)
    numbers.push((await github.openPullRequest({ repository: "acme/many", branch: `b${i}` })).number);
  const pipeline = await pipelineOf("many");
  await pipeline.show(numbers);
  await pipeline.show(numbers);
  expect(pipeline.status()?.reports).toHaveLength(22);
  const end = github.restrict("acme/many", "archived");
  await pipeline.show(numbers, "Building");
  await pipeline.show(numbers, "Building");
  expect(pipeline.reported()).toMatchObject({ status: "False", reason: "RepositoryArchived" });
  end();
  for (const number of numbers.slice(0, 21))
    await github.lockConversation({ repository: "acme/many", number });
  expect(await pipeline.deleted(2)).toBe(2);
  expect(pipeline.events.map((event) => event.match(/#\d+/g)?.length)).toEqual([20, 1]);
  expect((await commentsOf("acme/many", numbers.at(-1)))[0]).toContain("was deleted");
});

test("removes the finalizer when the repository was deleted, and after a minute when GitHub is unavailable", async () => {
  await github.openPullRequest({ repository: "acme/deleted" });
  const gone = await pipelineOf("deleted");
  await gone.show([1]);
  await github.api("DELETE", "/repos/acme/deleted");
  expect(await gone.deleted(1)).toBe(1);
  expect(gone.events).toEqual([expect.stringMatching(/^Warning ReportIncomplete .*\(#1\).*404/)]);

  await github.openPullRequest({ repository: "acme/away" });
  const away = await pipelineOf("away");
  await away.show([1]);
  const fault = github.fault({ path: /^\/repos\/acme\/away/ }, { status: 503 });
  expect(await away.deleted(4, 20_000)).toBe(4);
  expect(away.events).toEqual([expect.stringMatching(/^Warning ReportIncomplete .*\(#1\).*503/)]);
  fault.remove();
});

test("sends no report to another repository that has taken the name, also on deletion", async () => {
  await github.openPullRequest({ repository: "acme/replaced" });
  const pipeline = await pipelineOf("replaced");
  await pipeline.show([1], "Building");
  await github.renameRepository("acme/replaced", "kept");
  await github.createRepository("acme/replaced");
  await github.openPullRequest({ repository: "acme/replaced" });
  await pipeline.show([1]);
  expect(pipeline.reported()).toMatchObject({ status: "False", reason: "RepositoryReplaced" });
  pipeline.after(minutes(5));
  await pipeline.show([1], "Failed");
  expect(await pipeline.deleted(1)).toBe(1);
  expect(pipeline.events).toEqual([
    expect.stringContaining("the name acme/replaced now belongs to another repository"),
  ]);
  expect(await commentsOf("acme/replaced")).toEqual([]);
  expect(await commentsOf("acme/kept")).toEqual([expect.stringMatching(/State \| Building/)]);
});

test("sends reports to a renamed repository", async () => {
  await github.openPullRequest({ repository: "acme/renamed" });
  const pipeline = await pipelineOf("renamed");
  await pipeline.show([1], "Building");
  await github.renameRepository("acme/renamed", "site");
  await pipeline.show([1]);
  expect(await commentsOf("acme/site")).toEqual([expect.stringMatching(/State \| Ready/)]);
  expect(await pipeline.deleted(1)).toBe(1);
  expect(await commentsOf("acme/site")).toEqual([expect.stringContaining("was deleted")]);
});

test("does not report pull requests of the former repository to a new one", async () => {
  for (const name of ["one", "two"]) await github.openPullRequest({ repository: `acme/${name}` });
  const pipeline = await pipelineOf("one");
  await pipeline.show([1]);
  pipeline.change({ spec: { base: { github: { repo: "two" } } } });
  await pipeline.show([1], "Failed");
  expect(await commentsOf("acme/two")).toEqual([]);
  const id = await idOf("acme/two");
  pipeline.change({ status: { repository: { name: "acme/two", id, fullName: "acme/two" } } });
  await pipeline.show([]);
  expect(await commentsOf("acme/two")).toEqual([]);
  expect(pipeline.events).toEqual([expect.stringMatching(/now names another repository.*\(#1\)/)]);
  expect(pipeline.status()?.reports).toEqual([]);
  await pipeline.show([1]);
  expect(await commentsOf("acme/two")).toEqual([expect.stringMatching(/State \| Ready/)]);
  expect(await commentsOf("acme/one")).toEqual([expect.stringMatching(/State \| Ready/)]);

  pipeline.change({ spec: { base: { github: { repo: "one" } } } });
  expect(await pipeline.deleted(1)).toBe(1);
  expect(await commentsOf("acme/one")).toEqual([expect.stringMatching(/State \| Ready/)]);
});

test("removes the note of a closed, locked pull request when GitHub accepts the report, or after a day, and sets no condition", async () => {
  const pulls = [1, 2];
  for (const number of pulls)
    await github.openPullRequest({ repository: "acme/closed", branch: `b${number}` });
  const pipeline = await pipelineOf("closed");
  await pipeline.show(pulls);
  for (const number of pulls) await github.lockConversation({ repository: "acme/closed", number });
  const again = await pipeline.show([]);
  expect(again?.requeueAfter).toBe(minutes(30));
  expect(pipeline.reported()?.status).toBe("True");
  expect(pipeline.events).toEqual([expect.stringMatching(/\(#1, #2\)\. Retried for a day:.*locked/)]);

  await github.unlockConversation({ repository: "acme/closed", number: 2 });
  await pipeline.show([], "Ready", {
    type: "webhook",
    provider: "github",
    event: "pull_request",
    delivery: "1",
  });
  expect((await commentsOf("acme/closed", 2))[0]).toContain("was deleted");
  expect(pipeline.status()?.reports?.map(({ number }) => number)).toEqual([1]);

  pipeline.after(minutes(30));
  await pipeline.show([]);
  expect(pipeline.events).toHaveLength(1);
  pipeline.after(minutes(24 * 60));
  expect(await pipeline.show([])).toBeUndefined();
  expect(pipeline.status()?.reports).toEqual([]);
  expect(pipeline.events).toHaveLength(2);
  expect(pipeline.events[1]).toMatch(/\(#1\)\. Not retried:.*locked/);
  expect(pipeline.reported()?.status).toBe("True");
});
