/** Events of PipeCD: each new value is registered once, an agent commits it, and PipeCD deploys the commit. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { type Kpack, startKpack } from "../../deploy/simulators/kpack/kpack.ts";
import { deploymentFile, event, eventRepositories } from "../../deploy/simulators/pipecd/eventrepository.ts";
import { Application, RemoteSync } from "../../functions/paas/kinds.ts";
import { ControlPlane, EventRegistration } from "../../functions/pipecd/kinds.ts";
import type { Replica } from "../harness/environment.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import { type EventStack, startEventStack } from "../harness/pipecdevents.ts";
import { names, polling, sideBySide, startStack } from "../harness/pipecdstack.ts";
import { base64 } from "../harness/secretvalues.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const repositories = eventRepositories();
const kind = EventRegistration as never;
const image = (digit: string) => `registry.example.com/web@sha256:${digit.repeat(64)}`;

let pipecd: Pipecd;
let stack: EventStack;
beforeAll(async () => {
  pipecd = await startPipecd({ repositories, eventMillis: 200 });
  stack = await startEventStack(pipecd, "events", repositories);
}, sideBySide.timeout);
afterAll(() => pipecd?.stop());

describe("an image that the PaaS has built", () => {
  let kpack: Kpack;
  let paas: Replica;
  beforeAll(async () => {
    kpack = await startKpack({ client: pipecd.environment.client, steps: "first and last" });
    await kpack.builder("default", "ready");
    paas = await pipecd.environment.worker("paas-1", ["modoki-application", "modoki-remotesync"]);
    const data = { username: "eA==", password: "eA==" };
    await stack.create(
      Secret as never,
      {
        kind: "Secret",
        metadata: { name: "git", annotations: { "kpack.io/git": "https://github.com" } } as never,
        type: "kubernetes.io/basic-auth",
        data,
      } as never,
    );
  });
  afterAll(async () => {
    await paas?.stop();
    await kpack?.stop();
  });

  const base = (digit: string) => ({
    github: { owner: "acme", repo: "web", sha: digit.repeat(40), secretName: "git" },
  });
  /** Its revision is known before its image exists. */
  const built = (revision: string) =>
    stack.until(
      RemoteSync,
      "web",
      (sync) =>
        has("Deployed", "True")(sync) &&
        conditionOf(sync, "Deployed")?.message.includes(`image of ${revision}`) === true,
    );

  test("is registered as an event, committed by the agent, and deployed, one by one", async () => {
    await stack.register("web-image", {
      ...event,
      contexts: { "Built-By": "denrei" },
      source: { remoteSync: { name: "web" } },
    });
    expect(await stack.refused(kind, "web-image", "RemoteSyncNotFound")).toContain("web");
    await stack.create(Application as never, {
      kind: "Application",
      metadata: { name: "web" },
      spec: { image: image("0"), domains: ["web.example.com"] },
    });
    await stack.create(RemoteSync as never, {
      kind: "RemoteSync",
      metadata: { name: "web" },
      spec: {
        applicationRef: { name: "web" },
        base: base("a"),
        image: { name: "registry.example.com/web" },
        builder: { kind: "ClusterBuilder", name: "default" },
      },
    });
    const found: string[] = [];
    for (const digit of ["a", "b"]) {
      const revision = digit.repeat(40);
      await stack.edit(RemoteSync as never, "web", { base: base(digit) });
      const { latestImage = "" } = (await built(revision)).status ?? {};
      expect(latestImage).toMatch(/@sha256:[0-9a-f]{64}$/);
      found.push(latestImage);
      const { status } = await stack.untilState("web-image", latestImage, "Succeeded");
      expect(status?.registered?.description).toContain("Successfully updated 1 files");
      const head = stack.repository.commits.at(-1);
      expect(head).toMatchObject({
        message: `Deploy ${latestImage}`,
        trailers: { "Built-By": "denrei", "Pipecd-Dev-Trace-Trigger-Commit-Hash": revision },
      });
      expect(stack.repository.files.get(deploymentFile)).toContain(`image: ${latestImage}`);
      await expect.poll(() => stack.server().deployments().at(-1)?.commit, polling).toBe(head?.hash);
    }
    expect(stack.registered(event.name)).toEqual(found);
    const { status } = await stack.get(EventRegistration, "web-image");
    expect(conditionOf({ status } as never)).toMatchObject({ status: "True", reason: "Handled" });
    expect(stack.server().deployments()).toHaveLength(2);
  });

  test("is not registered again when the RemoteSync is deleted and created again", async () => {
    const before = stack.registered(event.name);
    const { spec } = await stack.get(RemoteSync, "web");
    await stack.delete(RemoteSync as never, "web");
    await stack.refused(kind, "web-image", "RemoteSyncNotFound");
    await stack.untilGone(RemoteSync as never, "web");
    await stack.create(RemoteSync as never, { kind: "RemoteSync", metadata: { name: "web" }, spec });
    const { latestImage } = (await built("b".repeat(40))).status ?? {};
    const { status } = await stack.until(EventRegistration, "web-image", has("Ready", "True"));
    if (latestImage === before.at(-1)) expect(stack.registered(event.name)).toEqual(before);
    else await expect.poll(() => stack.registered(event.name), polling).toEqual([...before, latestImage]);
    expect(status?.registered?.eventID).toBeTruthy();
  });
});

test("registers a recurring value again, and each value once", async () => {
  await stack.register("back", { source: { data: "one" } });
  for (const data of ["one", "two", "one"]) {
    await stack.setData("back", data);
    await stack.untilState("back", data, "NotHandled");
  }
  expect(stack.registered("back")).toEqual(["one", "two", "one"]);
  const times = stack
    .server()
    .calls.filter(
      ({ method, request }) =>
        method === "RegisterEvent" && (request as { name?: string } | undefined)?.name === "back",
    )
    .map(({ at }) => Math.trunc(at / 1000));
  // Agents cannot order events of the same second.
  expect(new Set(times).size).toBe(3);
});

test("a recreated EventRegistration adopts the existing event", async () => {
  await stack.register("again", { source: { data: "one" } });
  const before = await stack.untilState("again", "one", "NotHandled");
  await stack.delete(kind, "again");
  await stack.untilGone(kind, "again");
  await stack.register("again", { source: { data: "one" } });
  const after = await stack.untilState("again", "one", "NotHandled");
  expect(after.status?.registered?.eventID).toBe(before.status?.registered?.eventID);
  expect(stack.registered("again")).toEqual(["one"]);
});

test("adopts an event whose response was lost, and registers one that failed once the control plane is back", async () => {
  const lost = stack.server().loseAnswer("RegisterEvent");
  await stack.register("lost", { source: { data: "one" } });
  await lost;
  await stack.untilState("lost", "one", "NotHandled");
  expect(stack.registered("lost")).toEqual(["one"]);
  await expect.poll(() => stack.notes(kind, "lost", "Adopted"), polling).toHaveLength(1);

  stack.server().die();
  await stack.setData("lost", "two");
  await stack.refused(kind, "lost", "ServerUnavailable");
  stack.server().restart();
  await stack.untilState("lost", "two", "NotHandled");
  await stack.until(EventRegistration, "lost", has("Ready", "True"));
  expect(stack.registered("lost")).toEqual(["one", "two"]);
});

test("an event that the agent fails to handle is reported, and one that is registered by hand is adopted", async () => {
  stack.repository.rejectPushes("remote: permission denied");
  const first = stack.until(EventRegistration, "failing", has("Handled", "False"));
  await stack.register("failing", { ...event, source: { data: image("e") } });
  expect(await stack.refused(kind, "failing", "EventFailed")).toContain("remote: permission denied");
  expect(conditionOf(await first, "Ready")).toMatchObject({ status: "False", reason: "EventFailed" });
  stack.repository.rejectPushes(undefined);
  const { events } = await stack.console();
  const before = (await events?.list(event, 0))?.[0];
  const byHand = await stack
    .api()
    .then((client) =>
      client.events?.register?.({ ...event, data: image("e"), contexts: {}, commitHash: "" }),
    );
  expect(byHand).not.toBe(before?.id);
  // Any event triggers it, or the sweep after five minutes.
  await stack.patch(kind, "failing", { metadata: { labels: { touched: "true" } } });
  const { status } = await stack.untilState("failing", image("e"), "Succeeded");
  expect(status?.registered?.eventID).toBe(byHand);
});

test("replaces a lost API key, and registers the next value with the new one", async () => {
  await stack.register("key", { source: { data: "one" } });
  await stack.untilState("key", "one", "NotHandled");
  await stack.delete(Secret as never, `${names.plane}-api-keys`);
  await stack.setData("key", "two");
  await stack.untilState("key", "two", "NotHandled");
  expect(stack.registered("key")).toEqual(["one", "two"]);
});

test("waits for an API key of its project", async () => {
  await stack.edit(ControlPlane as never, names.plane, { bootstrapAPIKeys: false });
  await stack.ready(ControlPlane, names.plane);
  await stack.register("keyless", { source: { data: "one" } });
  expect(await stack.refused(kind, "keyless", "APIKeyNotFound")).toContain("spec.apiKeySecretRef");
  await stack.edit(kind, "keyless", { apiKeySecretRef: { name: "own-key" } });
  await stack.refused(kind, "keyless", "SecretNotFound");
  const keyOf = async (project: string) => {
    const key = await (await stack.console(project)).apiKeys?.generate("own");
    return { "api-key": base64(key ?? "") };
  };
  await stack.create(
    Secret as never,
    {
      kind: "Secret",
      metadata: { name: "own-key" },
      data: await keyOf("second"),
    } as never,
  );
  expect(await stack.refused(kind, "keyless", "APIKeyMismatch")).toContain("quickstart");
  expect(stack.registered("keyless")).toEqual([]);
  await stack.patch(Secret as never, "own-key", { data: await keyOf("quickstart") });
  await stack.untilState("keyless", "one", "NotHandled");
});

test("reports that v0.9.0 has no events", async () => {
  const old = await startStack(pipecd, "l0", "events-l0");
  await old.create(kind, {
    kind: EventRegistration.kind,
    metadata: { name: "old" },
    spec: { name: "old", projectID: "quickstart", insecure: true, source: { data: "one" } },
  });
  expect(await old.refused(kind, "old", "VersionNotSupported")).toContain("v0.44.0");
});
