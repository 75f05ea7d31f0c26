/** Webhooks of a real Gitea: pushes over HTTP and a pull request, with its own signatures, into reconciles. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { deliveries } from "../../bus/webhooks/history.ts";
import { Mirror } from "../fixtures/functions/mirrors.ts";
import { type Gitea, remoteOf, startGitea } from "../gitea/gitea.ts";
import {
  type GatewayReplica,
  type LocalTestEnvironment,
  startLocalTestEnvironment,
} from "../harness/environment.ts";

const mirrors = fileURLToPath(new URL("../fixtures/functions/mirrors.ts", import.meta.url));
const secret = "between gitea and the gateway";
const at = { namespace: "default", name: "web" };
const deadline = { timeout: 60_000, interval: 100 };

let environment: LocalTestEnvironment;
let gateway: GatewayReplica;
let gitea: Gitea;
let bus: Bus;
let folder: string;
beforeAll(async () => {
  environment = await startLocalTestEnvironment({ crds: [crdOf(Mirror)] });
  folder = await mkdtemp(join(tmpdir(), "denrei-gitea-"));
  gitea = await startGitea({ directory: folder, spawn: environment.platform.spawn });
  await environment.bridge("bridge-1", { args: [mirrors] });
  await environment.worker("worker-1", [mirrors]);
  await writeFile(join(folder, "gitea.app"), secret);
  const env = { DENREI_WEBHOOK_SECRETS: folder };
  gateway = await environment.gateway("gateway-1", { args: [mirrors], env });
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  await createRepository();
  await environment.client.create(
    Mirror,
    {
      apiVersion: "test.denrei.dev/v1",
      kind: "Mirror",
      metadata: at,
      spec: { repository: `${gitea.user}/web` },
    },
    { fieldManager: "test" },
  );
  await recorded(0);
}, 900_000);
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Creates a repository with a webhook to the gateway, and clones it. */
async function createRepository(): Promise<void> {
  await gitea.api("POST", "/user/repos", { name: "Web", auto_init: true, default_branch: "main" });
  await createHook(secret);
  await gitea.git(folder, "clone", remoteOf(gitea, `${gitea.user}/Web`), "clone");
}

/** Creates a webhook to the gateway. Resolves with its id. */
async function createHook(signedWith: string): Promise<number> {
  const url = new URL("/gitea/app", gateway.hookUrl()).href;
  const config = { url, content_type: "json", secret: signedWith };
  const hook = { type: "gitea", active: true, events: ["push", "pull_request"], config };
  return (await gitea.api<{ id: number }>("POST", `/repos/${gitea.user}/Web/hooks`, hook)).id;
}

/** The webhooks that the function has recorded, once there are this many. */
const recorded = async (count: number): Promise<readonly string[]> => {
  const { status } = await environment.until(
    Mirror,
    at,
    (mirror) => mirror.status?.webhooks?.length === count,
  );
  return status?.webhooks ?? [];
};

/** Everything on the bus. */
async function stored() {
  const found = [];
  for await (const { event, delivery, type, owner, repository, subject, data } of deliveries(bus, {
    since: new Date(0),
  }))
    found.push({ event, delivery, type, owner, repository, subject, data: JSON.parse(data) });
  return found;
}

/** Commits a file on a branch, and pushes it. Resolves with the commit. */
async function push(branch: string): Promise<string> {
  const clone = join(folder, "clone");
  await gitea.git(clone, "checkout", "-B", branch);
  await writeFile(join(clone, `${branch}.txt`), branch);
  await gitea.git(clone, "add", ".");
  await gitea.git(clone, "commit", "-m", "a message that stays off the bus");
  await gitea.git(clone, "push", "origin", branch);
  return gitea.git(clone, "rev-parse", "HEAD");
}

test("pushes and a pull request reconcile the object of their repository", async () => {
  const after = await push("main");
  await recorded(1);
  const head = await push("change");
  const pushes = await recorded(2);
  const change = { title: "a title that stays off the bus", head: "change", base: "main" };
  await gitea.api("POST", `/repos/${gitea.user}/Web/pulls`, change);
  const all = await recorded(3);
  const [first, second, third, ...more] = await stored();
  expect(more).toEqual([]);
  expect(pushes).toEqual([`push ${first?.delivery}`, `push ${second?.delivery}`]);
  expect(all.at(-1)).toBe(`pull_request ${third?.delivery}`);
  const address = { owner: gitea.user, repository: "web" };
  expect(first).toMatchObject({
    event: "push",
    type: "io.gitea.push",
    ...address,
    subject: "refs/heads/main",
  });
  expect(first?.data).toMatchObject({ ref: "refs/heads/main", after, sender: { login: gitea.user } });
  expect(Object.keys(first?.data).sort()).toEqual(["after", "before", "ref", "repository", "sender"]);
  expect(second?.data).toMatchObject({ ref: "refs/heads/change", after: head });
  expect(third).toMatchObject({ event: "pull_request", type: "io.gitea.pull_request.opened", subject: "1" });
  // Only what the function selects.
  expect(third?.data).toEqual({ pull_request: { head: { sha: head } } });
  expect(JSON.stringify([first, second, third])).not.toMatch(/off the bus|example\.com/);
});

test("a webhook with another secret is refused", async () => {
  const before = await stored();
  const hook = await createHook("another");
  await gitea.api("POST", `/repos/${gitea.user}/Web/hooks/${hook}/tests`);
  const refused = () => gateway.log.records().filter(({ outcome }) => outcome === "unsigned");
  await expect.poll(() => refused().length, deadline).toBe(1);
  expect(refused()).toMatchObject([{ provider: "gitea", status: 401 }]);
  expect(await stored()).toEqual(before);
});
