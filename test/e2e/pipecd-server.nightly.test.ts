/**
 * The functions with an external server: the stand-in, or a running PipeCD that the variables of the contract suite name
 * (`test/pipecd/contract/target.ts`).
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Kind, Secret, type SecretObject } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { pipecdClient } from "../../functions/pipecd/api/client.ts";
import type { PipecdClient } from "../../functions/pipecd/api/services.ts";
import { Application, ControlPlane, Environment, Piped } from "../../functions/pipecd/kinds.ts";
import { annotations } from "../../functions/pipecd/names.ts";
import { type Pipecd, stackKinds, startPipecd } from "../harness/pipecd.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { type Target, target } from "../pipecd/contract/target.ts";
import { simulatePiped } from "../pipecd/simulatedpiped.ts";

const namespace = "server";
const at = (name: string) => ({ namespace, name });
const base64 = (bytes: Buffer): string => bytes.toString("base64");

describe.each([
  { profile: "C", file: "c" },
  { profile: "L0", file: "l0" },
] as const)("a server of profile $profile", ({ profile, file }) => {
  const pipedName = `e2e-${randomUUID()}`;
  let on: Target;
  let pipecd: Pipecd;
  let client: PipecdClient;
  beforeAll(async () => {
    on = await target(profile);
    pipecd = await startPipecd({ server: on.addresses });
    client = pipecdClient({
      profile,
      projectID: on.project,
      web: { address: on.addresses.web, tls: undefined },
      api: { address: on.addresses.api, tls: undefined },
      encryptionKey: on.encryptionKey,
      apiKey: undefined,
      signal: AbortSignal.timeout(300_000),
    });
    await pipecd.namespace(namespace);
    // An existing key is kept.
    const data = { "encryption-key": base64(on.encryptionKey) };
    await pipecd.create(Secret, { metadata: at("pipecd"), data });
  });
  afterAll(async () => {
    await pipecd?.stop();
    await on?.close();
  });

  const records = async () => (await client.pipeds.list()).filter(({ name }) => name === pipedName);

  test("knows the piped and the application as soon as they exist", async () => {
    await pipecd.apply(file, namespace, (object) => {
      const { kind, spec } = object;
      if (kind === "ControlPlane") {
        spec.config.projects[0].id = on.project;
        if (profile === "C") spec.bootstrapAPIKeys = true;
      }
      if ("projectID" in (spec ?? {})) spec.projectID = on.project;
      if (kind === "Piped") spec.name = pipedName;
      if (kind === "Application") {
        spec.pipedRef.name = pipedName;
        spec.repository = "examples";
      }
      return object;
    });
    const { status } = await pipecd.environment.until(
      Application,
      at("application-sample"),
      has("Ready", "True"),
    );
    const piped = await pipecd.environment.until(Piped, at("piped-sample"), has("Ready", "True"));
    const [record, ...others] = await records();
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      id: piped.status?.pipedID,
      disabled: false,
      description: "test",
      repositories: ["examples"],
    });
    expect(await client.applications.list(record?.id ?? "")).toMatchObject([
      {
        id: status?.applicationID,
        repository: "examples",
        path: "kubernetes/canary",
        configFilename: profile === "C" ? "app.pipecd.yaml" : ".pipe.yaml",
        provider: "kubernetes-default",
      },
    ]);
    const pipecdEnvironment = await pipecd.environment.until(
      Environment,
      at("environment-sample"),
      has("Ready", "True"),
    );
    if (profile === "L0") expect(record?.environmentIDs).toEqual([pipecdEnvironment.status?.environmentID]);
    if (profile === "C")
      await pipecd.environment.until(ControlPlane, at("controlplane-sample"), has("APIKeysReady", "True"));
  });

  const codeFor = async ({ data, metadata }: Stored<SecretObject>): Promise<number> => {
    const piped = simulatePiped({
      profile,
      address: on.addresses.piped,
      project: on.project,
      id: metadata.annotations?.[annotations.pipedID] ?? "",
      key: Buffer.from(data?.["piped-key"] ?? "", "base64").toString(),
    });
    try {
      return await piped.beat();
    } finally {
      piped.close();
    }
  };

  test("creates another key for the same piped when the first one is lost, and deletes the lost one", async () => {
    const before = await pipecd.environment.client.get(Secret, at("piped-sample"));
    expect(await codeFor(before)).toBe(0);
    await pipecd.environment.client.delete(Secret, at("piped-sample"), {});
    const after = await pipecd.environment.until(
      Secret,
      at("piped-sample"),
      ({ data, metadata }) =>
        data?.["piped-key"] !== undefined &&
        data["piped-key"] !== before.data?.["piped-key"] &&
        metadata.annotations?.[annotations.olderKeys] === undefined,
    );
    const { pipedID, pipedKeyID } = annotations;
    expect(after.metadata.annotations?.[pipedID]).toBe(before.metadata.annotations?.[pipedID]);
    const [record, ...others] = await records();
    expect(others).toEqual([]);
    // v0.9.0 keeps three keys, the newest last.
    if (profile === "C") expect(record?.keyIDs).toEqual([after.metadata.annotations?.[pipedKeyID]]);
    // A server reads its database when it sees the new key.
    expect(await codeFor(after)).toBe(0);
    expect(await codeFor(before)).toBe(16);
  });

  test("keeps the live application when the new repository is mistyped", async () => {
    const { status } = await pipecd.environment.client.get(Application, at("application-sample"));
    const refused = async (reason: string) => {
      const found = await pipecd.environment.until(
        Application,
        at("application-sample"),
        (object) => conditionOf(object, "Ready")?.reason === reason,
      );
      expect(conditionOf(found, "Registered")).toMatchObject({ status: "False", reason: "FormerRegistered" });
    };
    await pipecd.patch(Application, at("application-sample"), { spec: { repository: "exmaples" } });
    await refused("RepositoryNotFound");
    const [record] = await records();
    const live = { id: status?.applicationID, repository: "examples", path: "kubernetes/canary" };
    expect(await client.applications.list(record?.id ?? "")).toMatchObject([live]);
    await pipecd.patch(Application, at("application-sample"), { spec: { repository: "examples" } });
    await pipecd.environment.until(Application, at("application-sample"), has("Ready", "True"));
    expect(await client.applications.list(record?.id ?? "")).toMatchObject([live]);
  });

  test("receives edits and deletions", async () => {
    await pipecd.patch(Application, at("application-sample"), { spec: { path: "kubernetes/simple" } });
    const { status } = await pipecd.environment.until(
      Application,
      at("application-sample"),
      (found) => found.status?.registered?.path === "kubernetes/simple" && has("Ready", "True")(found),
    );
    const [record] = await records();
    const found = await client.applications.list(record?.id ?? "");
    expect(found).toMatchObject([{ id: status?.applicationID, path: "kubernetes/simple" }]);
    for (const kind of stackKinds as readonly Kind[])
      for (const { metadata } of await pipecd.environment.list(kind, namespace))
        await pipecd.environment.client.delete(kind, at(metadata.name), {});
    for (const kind of [Application, Piped, Environment, ControlPlane] as unknown as Kind[])
      await pipecd.environment.untilGone(kind, at(`${kind.kind.toLowerCase()}-sample`));
    expect(await client.applications.list(record?.id ?? "")).toEqual([]);
    expect(await records()).toMatchObject([{ disabled: true }]);
    await pipecd.environment.untilGone(Deployment, at("controlplane-sample-server"));
  });
});
