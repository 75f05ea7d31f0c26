/** Listing open pull requests without webhooks, and keeping previews when listing fails. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { expectManyPreviews, numbersOf, pollNow } from "../harness/manypreviews.ts";
import { type Paas, secrets, startPaas } from "../harness/paas.ts";
import { idle, type Previews, phasesOf, previewAt, previewsOn, untilNoObjects } from "../harness/previews.ts";
import { base64 } from "../harness/secretvalues.ts";
import { loseTimers, sweep } from "../harness/sweep.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { storedDelay } from "../harness/timers.ts";

const listed = (status: "True" | "False", reason?: string) => has("PullRequestsListed", status, reason);

let paas: Paas;
let previews: Previews;
beforeAll(async () => {
  const names = ["polled", "swept", "many", "token", "moved", "wiped", "old"];
  paas = await startPaas({ repositories: names.map((name) => `acme/${name}`), mostPerPage: 4 });
  previews = previewsOn(paas);
});
afterAll(() => paas?.stop());

const isList = ({ method, path }: { method: string; path: string }) =>
  method === "GET" && /\/pulls\?/.test(path);
const refresh = (name: string) =>
  paas.patch(AppPipeline, name, {
    metadata: { annotations: { "modoki.tsuzu.dev/refreshed-at": String(performance.now()) } },
  });

// Each has its own repository.
describe.concurrent("what GitHub lists", () => {
  test("without webhooks, creates, updates, and deletes a preview, with conditional requests to GitHub", async ({
    expect,
  }) => {
    await previews.create("polled", { pollInterval: "10s" });
    await previews.until("polled", listed("True"));
    const delay = await storedDelay(paas, "modoki-apppipeline", { namespace: "default", name: "polled" });
    expect(delay).toBeLessThanOrEqual(10_000);
    const pull = await previews.open("polled", { branch: "change" });
    // Lists include merge commits, so the merge is known without another request.
    const merged = () => paas.github.mergeability(pull.repository, pull.number, "clean");
    merged();
    await pollNow(paas, previews, "polled");
    await previews.phases("polled", { 1: "Ready" });
    const { after } = await paas.github.push({ repository: pull.repository, branch: "change" });
    merged();
    await pollNow(paas, previews, "polled");
    await previews.until("polled", ({ status }) => status?.previews?.[0]?.headSHA === after);
    await sweep(paas, "modoki-remotesync");
    await previews.phases("polled", { 1: "Ready" });
    // At least one worker gets the same list twice.
    for (const _ of [...paas.workers, "once more"]) await pollNow(paas, previews, "polled");
    await paas.github.closePullRequest(pull);
    await pollNow(paas, previews, "polled");
    await previews.phases("polled", {});
    await untilNoObjects(paas, "polled", 1);
    const answers = previews
      .requests("polled")
      .filter(isList)
      .map(({ status }) => status);
    expect(answers).toContain(304);
    // Each worker fetches only changed lists: the initial one, with the pull request, with its commit, and without it.
    expect(answers.filter((status) => status === 200).length).toBeLessThanOrEqual(4 * paas.workers.length);
  });

  test("finds a closed pull request in the sweep when the timer is lost as well", async ({ expect }) => {
    const pull = await previews.open("swept");
    await previews.create("swept", { pollInterval: "10s", ...idle });
    await previews.until("swept", (pipeline) => numbersOf(pipeline) === "1");
    await paas.untilQuiet();
    await paas.github.closePullRequest(pull);
    await loseTimers(paas, "modoki-apppipeline");
    await expect
      .poll(
        async () => {
          await sweep(paas, "modoki-apppipeline");
          return (await previews.numbers("swept")).applications;
        },
        { timeout: 60_000, interval: 1000 },
      )
      .toEqual([]);
  });

  test("each of many open pull requests has a preview, and an incomplete list deletes none", ({ expect }) =>
    expectManyPreviews(paas, { first: 3, last: 6, expect }));
});

test("keeps previews of a renamed repository up to date, and reports the name to change", async () => {
  await previews.open("old", { branch: "change" });
  await previews.create("old", idle);
  await previews.until("old", (pipeline) => numbersOf(pipeline) === "1");
  await paas.github.renameRepository("acme/old", "site");
  const { after } = await paas.github.push({ repository: "acme/site", branch: "change" });
  await pollNow(paas, previews, "old");
  const renamed = await previews.until("old", listed("True", "RepositoryRenamed"));
  const note =
    "the repository acme/old was renamed to acme/site: set spec.base.github to owner acme and repo site";
  for (const type of ["PullRequestsListed", "Ready"]) expect(conditionOf(renamed, type)?.message).toBe(note);
  expect(renamed.status?.previews?.[0]?.headSHA).toBe(after);
  const sync = await paas.environment.until(
    RemoteSync,
    previewAt("old", 1),
    has("SourceResolved", "True", "RepositoryRenamed"),
  );
  expect(conditionOf(sync, "SourceResolved")?.message).toContain(
    "spec.base.github of the AppPipeline old to",
  );

  await paas.github.createRepository("acme/old");
  await pollNow(paas, previews, "old");
  await previews.until("old", listed("False", "RepositoryReplaced"));
  await paas.untilQuiet();
  expect((await previews.numbers("old")).applications).toEqual([1]);
});

describe.concurrent("what GitHub does not list", () => {
  test("reports a missing repository, and keeps its previews", async ({ expect }) => {
    await previews.open("moved");
    await previews.create("moved", idle);
    await previews.until("moved", (pipeline) => numbersOf(pipeline) === "1");
    await paas.patch(AppPipeline, "moved", { spec: { base: { github: { repo: "nowhere" } } } });
    const failed = await previews.until("moved", listed("False", "NotFound"));
    expect(failed.status?.message).toContain("acme/nowhere");
    await paas.untilQuiet();
    expect((await previews.numbers("moved")).applications).toEqual([1]);
    await paas.patch(AppPipeline, "moved", { spec: { base: { github: { repo: "moved" } } } });
    await previews.until("moved", has("Ready", "True"));
  });

  test("keeps previews when its status is lost while GitHub is unavailable", async ({ expect }) => {
    await previews.open("wiped");
    await previews.create("wiped", idle);
    await previews.until("wiped", (pipeline) => numbersOf(pipeline) === "1");
    await expect.poll(() => previews.numbers("wiped")).toEqual({ applications: [1], remoteSyncs: [1] });
    const before = await paas.environment.client.get(Application, previewAt("wiped", 1));
    const fault = paas.github.fault({ path: /\/wiped\/pulls\?/ }, { status: 503 });
    const at = { namespace: "default", name: "wiped" };
    await paas.environment.client.mergePatch(
      AppPipeline,
      at,
      { status: null },
      { fieldManager: "test", subresource: "status" },
    );
    const failed = await previews.until("wiped", listed("False", "GitHubUnreachable"));
    expect(phasesOf(failed)).toEqual({});
    await paas.untilQuiet();
    expect(await previews.numbers("wiped")).toEqual({ applications: [1], remoteSyncs: [1] });
    fault.remove();
    await pollNow(paas, previews, "wiped");
    await previews.until("wiped", (pipeline) => numbersOf(pipeline) === "1");
    const after = await paas.environment.client.get(Application, previewAt("wiped", 1));
    expect(after.metadata.uid).toBe(before.metadata.uid);
    await paas.environment.client.get(RemoteSync, previewAt("wiped", 1));
  });
});

// The others use the same token.
test("waits for its token, reports an invalid one, and continues with the next one", async () => {
  const at = { namespace: "default", name: secrets.git };
  const good = await paas.environment.client.get(Secret, at);
  await paas.environment.client.delete(Secret, at, {});
  await previews.open("token");
  await previews.create("token", idle);
  const missing = await previews.until("token", listed("False", "SecretNotFound"));
  expect(missing.status?.message).toContain(secrets.git);
  expect(missing.status?.previews).toBeUndefined();
  await paas.tokenSecret();
  await previews.until("token", (pipeline) => listed("True")(pipeline) && numbersOf(pipeline) === "1");

  await paas.patch(Secret, at, { data: { password: base64("ghs_wrong") } });
  await refresh("token");
  await previews.until("token", listed("False", "TokenRejected"));
  expect((await previews.numbers("token")).applications).toEqual([1]);
  await paas.patch(Secret, at, { data: good.data });
  await previews.until("token", (pipeline) => listed("True")(pipeline) && has("Ready", "True")(pipeline));
});
