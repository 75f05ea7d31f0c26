/** Which pull requests are open, found out without a single webhook, and what becomes of previews when it can not be. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { type Paas, secrets, startPaas } from "../harness/paas.ts";
import { type Previews, phasesOf, previewAt, previewsOn, untilNoObjects } from "../harness/previews.ts";
import { loseTimers, sweep } from "../harness/sweep.ts";
import { conditionOf, has } from "../harness/world.ts";

/** Nothing is built, and nothing runs: what is made is all that matters. */
const idle = {
  builder: { kind: "ClusterBuilder" as const, name: "absent" },
  applicationTemplate: { spec: { replicas: 0 } },
};
const listed = (status: "True" | "False", reason?: string) => has("PullRequestsListed", status, reason);
const numbersOf = ({ status }: AppPipeline) => status?.previews?.map(({ number }) => number).join();
const all = Array.from({ length: 75 }, (_, at) => at + 1);

let paas: Paas;
let previews: Previews;
beforeAll(async () => {
  const names = ["polled", "swept", "many", "token", "moved", "wiped"];
  paas = await startPaas({ repositories: names.map((name) => `acme/${name}`) });
  previews = previewsOn(paas);
});
afterAll(() => paas?.stop());

const isList = ({ method, path }: { method: string; path: string }) =>
  method === "GET" && /\/pulls\?/.test(path);
const refresh = (name: string) =>
  paas.patch(AppPipeline, name, {
    metadata: { annotations: { "modoki.tsuzu.dev/refreshed-at": String(performance.now()) } },
  });

test("without webhooks a preview comes, follows and goes, and GitHub is asked what has changed since", async () => {
  await previews.create("polled", { pollInterval: "10s" });
  await previews.until("polled", listed("True"));
  const pull = await previews.open("polled", { branch: "change" });
  await previews.phases("polled", { 1: "Ready" });
  const { after } = await paas.github.push({ repository: pull.repository, branch: "change" });
  await previews.until("polled", ({ status }) => status?.previews?.[0]?.headSHA === after);
  await sweep(paas, "modoki-remotesync");
  await previews.phases("polled", { 1: "Ready" });
  await paas.github.closePullRequest(pull);
  await previews.phases("polled", {});
  await untilNoObjects(paas, "polled", 1);
  const answers = previews
    .requests("polled")
    .filter(isList)
    .map(({ status }) => status);
  expect(answers).toContain(304);
  // Each worker is told what it knows not: the lists before, with the pull request, with its commit, and without it.
  expect(answers.filter((status) => status === 200).length).toBeLessThanOrEqual(4 * paas.workers.length);
});

test("when the timer is lost as well, the sweep finds what was closed", async () => {
  await previews.create("swept", { pollInterval: "10s", ...idle });
  const pull = await previews.open("swept");
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

test("of 75 open pull requests each has a preview, and a list that breaks off takes none away", async () => {
  for (const _ of all) await previews.open("many");
  await previews.create("many", idle);
  await previews.until("many", (pipeline) => numbersOf(pipeline) === all.join());
  await expect
    .poll(() => previews.numbers("many"), { timeout: 90_000 })
    .toEqual({ applications: all, remoteSyncs: all });

  const repository = "acme/many";
  // 100 are on a page.
  for (let i = 0; i < 30; i++) await previews.open("many");
  await paas.github.closePullRequest({ repository, number: 1 });
  const fault = paas.github.fault({ path: /\/many\/pulls\?.*\bpage=2\b/ }, { status: 502 });
  await refresh("many");
  const failed = await previews.until("many", listed("False", "GitHubUnreachable"));
  expect(conditionOf(failed)).toMatchObject({ status: "False", reason: "GitHubUnreachable" });
  expect(fault.hits).toBeGreaterThan(0);
  await paas.untilQuiet();
  expect(await previews.numbers("many")).toEqual({ applications: all, remoteSyncs: all });

  fault.remove();
  const now = Array.from({ length: 104 }, (_, at) => at + 2);
  await previews.until("many", (pipeline) => numbersOf(pipeline) === now.join());
  await expect
    .poll(() => previews.numbers("many"), { timeout: 90_000 })
    .toEqual({ applications: now, remoteSyncs: now });
  await previews.until("many", has("Ready", "True"));
}, 400_000);

test("it waits for its token, says when that is no good, and goes on with the next one", async () => {
  const at = { namespace: "default", name: secrets.git };
  const good = await paas.kit.client.get(Secret, at);
  await paas.kit.client.delete(Secret, at, {});
  await previews.open("token");
  await previews.create("token", idle);
  const missing = await previews.until("token", listed("False", "SecretNotFound"));
  expect(missing.status?.message).toContain(secrets.git);
  expect(missing.status?.previews).toBeUndefined();
  await paas.tokenSecret();
  await previews.until("token", (pipeline) => listed("True")(pipeline) && numbersOf(pipeline) === "1");

  await paas.patch(Secret, at, { data: { password: Buffer.from("ghs_wrong").toString("base64") } });
  await refresh("token");
  await previews.until("token", listed("False", "TokenRejected"));
  expect((await previews.numbers("token")).applications).toEqual([1]);
  await paas.patch(Secret, at, { data: good.data });
  await previews.until("token", (pipeline) => listed("True")(pipeline) && has("Ready", "True")(pipeline));
});

test("a repository that is not there is said, and takes no preview away", async () => {
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

test("with its status lost and GitHub away, it takes nothing away", async () => {
  await previews.open("wiped");
  await previews.create("wiped", idle);
  await previews.until("wiped", (pipeline) => numbersOf(pipeline) === "1");
  await expect.poll(() => previews.numbers("wiped")).toEqual({ applications: [1], remoteSyncs: [1] });
  const before = await paas.kit.client.get(Application, previewAt("wiped", 1));
  const fault = paas.github.fault({ path: /\/wiped\/pulls\?/ }, { status: 503 });
  const at = { namespace: "default", name: "wiped" };
  await paas.kit.client.mergePatch(
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
  await previews.until("wiped", (pipeline) => numbersOf(pipeline) === "1");
  const after = await paas.kit.client.get(Application, previewAt("wiped", 1));
  expect(after.metadata.uid).toBe(before.metadata.uid);
  await paas.kit.client.get(RemoteSync, previewAt("wiped", 1));
});
