/** Edits of PipeCD Applications. They are updated where PipeCD supports it, replaced elsewhere, and never duplicated. */
import { createClient } from "@connectrpc/connect";
import { beforeAll, expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { transportTo } from "../../functions/pipecd/api/connections.ts";
import { WebService } from "../../functions/pipecd/api/generated/c/webservice_pb.ts";
import { asAdministrator } from "../../functions/pipecd/api/interceptors.ts";
import { Application, Piped } from "../../functions/pipecd/kinds.ts";
import type { Pipecd } from "./pipecd.ts";
import { type EditedStacks, enabledApplications, names, polling, type Stack } from "./pipecdstack.ts";

let pipecd: Pipecd;
let c: Stack;
let l0: Stack;

const edited = async (stack: Stack, spec: object) => {
  const before = (await stack.get(Application, names.application)).status?.applicationID;
  const since = stack.server().calls.length;
  await stack.edit(Application, names.application, spec);
  const { status } = await stack.ready(Application, names.application);
  const writes = writesSince(stack, since);
  return { before, after: status?.applicationID, registered: status?.registered, writes, since };
};

const writesSince = (stack: Stack, since: number) =>
  stack
    .server()
    .calls.slice(since)
    .filter(({ method }) => !/^(List|Get|Report)/.test(method));
const methodsSince = (stack: Stack, since: number) => writesSince(stack, since).map(({ method }) => method);

/** Declares the tests of Applications. They come last, because the last of them deletes the Application. */
export function applicationTests(stacks: () => EditedStacks): void {
  beforeAll(() => {
    ({ pipecd, c, l0 } = stacks());
  });
  changedFieldTests();
  moveTests();
  deletionTests();
}

function changedFieldTests(): void {
  test.each([
    { field: "the provider", spec: { cloudProvider: "other-cluster" } },
    { field: "the name of the file", spec: { configFilename: "web.pipecd.yaml" } },
  ])("v0.57: changes $field and sends all other fields again", async ({ spec }) => {
    const { before, after, writes, registered } = await edited(c, spec);
    expect(after).toBe(before);
    expect(writes.map(({ method }) => method)).toEqual(["UpdateApplication"]);
    expect(writes[0]?.request).toMatchObject({
      applicationId: before,
      pipedId: registered?.pipedID,
      platformProvider: registered?.provider,
      configFilename: registered?.configFilename,
    });
    expect(enabledApplications(c)).toMatchObject([
      { id: before, provider: registered?.provider, configFilename: registered?.configFilename },
    ]);
    expect(registered).toMatchObject({
      ...("cloudProvider" in spec ? { provider: "other-cluster" } : { configFilename: "web.pipecd.yaml" }),
    });
  });

  test.each([
    { profile: "c", field: "path", spec: { path: "kubernetes/bluegreen" } },
    { profile: "c", field: "repository", spec: { repository: "other" } },
    { profile: "c", field: "kind", spec: { kind: "Terraform" } },
    { profile: "l0", field: "path", spec: { path: "kubernetes/bluegreen" } },
    { profile: "l0", field: "repository", spec: { repository: "other" } },
    { profile: "l0", field: "kind", spec: { kind: "Terraform" } },
    { profile: "l0", field: "cloudProvider", spec: { cloudProvider: "other-cluster" } },
    { profile: "l0", field: "name", spec: { name: "renamed" } },
  ])(
    "$profile: another $field creates another application, and the former one is deleted last",
    async (one) => {
      const stack = one.profile === "c" ? c : l0;
      const { before, after, since } = await edited(stack, one.spec);
      expect(after).not.toBe(before);
      const ended = one.profile === "c" ? "DeleteApplication" : "DisableApplication";
      await expect.poll(() => methodsSince(stack, since), polling).toEqual(["AddApplication", ended]);
      expect(writesSince(stack, since)[1]?.request).toEqual({ applicationId: before });
      expect(enabledApplications(stack).map(({ id }) => id)).toEqual([after]);
      await stack.until(Application, names.application, ({ status }) => status?.former === undefined);
      const event = one.profile === "c" ? "deleted" : "disabled";
      await expect
        .poll(() => stack.notes(Application, names.application, "Retired"), polling)
        .toContain(`PipeCD has ${event} the application ${before}: ${after} has replaced it`);
    },
  );

  test("v0.57: sends name, description, and labels once, and keeps later values from git", async () => {
    const { applicationID = "" } = (await c.get(Application, names.application)).status ?? {};
    c.server().overwriteFromGit(applicationID, { name: "from-git", labels: { team: "web" } });
    const { before, after, writes } = await edited(c, {
      name: "renamed",
      description: "new",
      labels: { a: "b" },
    });
    expect(after).toBe(before);
    expect(writes).toEqual([]);
    expect(enabledApplications(c)).toMatchObject([
      { id: applicationID, name: "from-git", labels: { team: "web" } },
    ]);
  });
}

function moveTests(): void {
  test("v0.57: moves the application to another piped", async () => {
    const { spec } = await c.get(Piped, names.piped);
    await c.create(Piped as never, {
      kind: "Piped",
      metadata: { name: "other" },
      spec: { ...spec, name: "other" },
    });
    const other = await c.ready(Piped, "other");
    const { before, after, writes } = await edited(c, { pipedRef: { objectName: "other", name: "other" } });
    expect(after).toBe(before);
    expect(writes.map(({ method }) => method)).toEqual(["UpdateApplication"]);
    expect(enabledApplications(c)).toMatchObject([{ id: before, pipedId: other.status?.pipedID }]);
    // No application needs the first one anymore.
    await c.delete(Piped as never, names.piped);
    await c.untilGone(Piped as never, names.piped);
    await c.ready(Application, names.application);
  });

  test("v0.57: a duplicate Application waits, and registers when the first one moves", async () => {
    const { spec, status } = await c.get(Application, names.application);
    const twin = { ...spec, path: `./${spec.path}/` };
    await c.create(Application as never, { kind: "Application", metadata: { name: "twin" }, spec: twin });
    const message = await c.refused(Application as never, "twin", "PlaceTaken");
    expect(message).toContain(`the Application ${names.application} already uses `);
    expect(enabledApplications(c).map(({ id }) => id)).toEqual([status?.applicationID]);
    await c.edit(Application, names.application, { path: "kubernetes/elsewhere" });
    const { status: registered } = await c.ready(Application, "twin");
    await c.ready(Application, names.application);
    expect(enabledApplications(c).map(({ id, path }) => [id, path])).toContainEqual([
      registered?.applicationID,
      twin.path,
    ]);
    await c.delete(Application as never, "twin");
    await c.untilGone(Application as never, "twin");
    expect(enabledApplications(c)).toMatchObject([{ path: "kubernetes/elsewhere" }]);
  });
}

function deletionTests(): void {
  test.each([
    { what: "it is to be replaced", end: () => edited(c, { path: "kubernetes/other" }) },
    { what: "its Application is deleted", end: () => c.delete(Application as never, names.application) },
  ])("v0.57: deletes an application disabled in PipeCD's console when $what", async ({ end }) => {
    const { applicationID = "" } = (await c.ready(Application, names.application)).status ?? {};
    const { data } = await c.get(Secret, "pipecd");
    const encryptionKey = Buffer.from(data?.["encryption-key"] ?? "", "base64");
    const who = asAdministrator({ profile: "C", projectID: "second", encryptionKey });
    const endpoint = { address: pipecd.pods.web, tls: undefined };
    await createClient(WebService, transportTo(endpoint, who)).disableApplication({
      applicationId: applicationID,
    });
    await end();
    const state = () =>
      c
        .server()
        .applications()
        .find(({ id }) => id === applicationID);
    await expect.poll(() => state()?.deleted, polling).toBe(true);
  });

  test("v0.9.0: the Event of a deleted Application reports that v0.9.0 only disables it", async () => {
    const { applicationID } = (await l0.get(Application, names.application)).status ?? {};
    await l0.delete(Application as never, names.application);
    await l0.untilGone(Application as never, names.application);
    await expect
      .poll(() => l0.notes(Application, names.application, "Disabled"), polling)
      .toEqual([`PipeCD has disabled the application ${applicationID}`]);
    expect(await l0.notes(Application, names.application, "Deleted")).toEqual([]);
    expect(enabledApplications(l0)).toEqual([]);
  });
}
