/** The reconcilers' client against the same target as the rest of the contract. */
import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PipedService as PipedServiceC } from "../../../deploy/simulators/pipecd/generated/c/pipedservice_pb.ts";
import { PipedService as PipedServiceL0 } from "../../../deploy/simulators/pipecd/generated/l0/pipedservice_pb.ts";
import { pipecdClient } from "../../../functions/pipecd/api/client.ts";
import type { PipecdClient } from "../../../functions/pipecd/api/services.ts";
import { type Target, target } from "./target.ts";

const repository = { id: "examples", remote: "https://github.com/pipe-cd/examples.git", branch: "master" };

describe.each(["C", "L0"] as const)("the client of profile %s", (profile) => {
  let on: Target;
  beforeAll(async () => {
    on = await target(profile);
  });
  afterAll(() => on?.close());

  const clientWith = (apiKey?: string): PipecdClient =>
    pipecdClient({
      profile,
      projectID: on.project,
      web: { address: on.addresses.web, tls: undefined },
      api: { address: on.addresses.api, tls: undefined },
      encryptionKey: on.encryptionKey,
      apiKey,
      signal: AbortSignal.timeout(30_000),
    });

  /** In v0.9.0 every piped needs an environment. */
  async function environmentIDs(client: PipecdClient): Promise<readonly string[]> {
    if (client.environments === undefined) return [];
    const name = randomUUID();
    await client.environments.add({ name, description: "d" });
    const found = (await client.environments.list()).filter((environment) => environment.name === name);
    expect(found).toHaveLength(1);
    return found.map(({ id }) => id);
  }

  /** Reports like a starting piped. */
  async function report(id: string, key: string): Promise<void> {
    const service = createClient(
      profile === "C" ? PipedServiceC : (PipedServiceL0 as unknown as typeof PipedServiceC),
      createGrpcTransport({ baseUrl: `http://${on.addresses.piped}` }),
    );
    const headers = { authorization: `PIPED-TOKEN ${on.project},${id},${key}` };
    await service.reportPipedMeta({ repositories: [repository] }, { headers });
  }

  test("registers, updates, and disables a piped, and recreates its key repeatedly", async () => {
    const { pipeds, ...client } = clientWith();
    const name = `client-${randomUUID()}`;
    const keyID = randomUUID();
    const { id, key } = await pipeds.register({
      name,
      description: "first",
      environmentIDs: await environmentIDs(client as PipecdClient),
      keyID,
    });
    const find = async (options = {}) => (await pipeds.list(options)).find((piped) => piped.id === id);
    expect(await find()).toMatchObject({ name, description: "first", disabled: false, repositories: [] });
    await report(id, key);
    expect((await find())?.repositories).toEqual(["examples"]);
    expect((await find())?.keyIDs).toEqual([keyID]);
    const keys = [key];
    for (let more = 0; more < 4; more++) keys.push(await pipeds.newKey(id, randomUUID()));
    expect(new Set(keys).size).toBe(5);
    const latestID = randomUUID();
    const latest = await pipeds.newKey(id, latestID);
    expect((await find())?.keyIDs[0]).toBe(latestID);
    await pipeds.disableOldKeys?.(id);
    expect(new Set((await find())?.keyIDs)).toEqual(new Set([latestID]));
    // A server uses its cached piped until it receives an unknown key.
    await report(id, latest);
    for (const former of keys) await expect(report(id, former)).rejects.toThrow("unauthenticated");
    await report(id, latest);
    await pipeds.update?.(id, { name: `${name}-2`, description: "second" });
    if (profile === "C") expect(await find()).toMatchObject({ name: `${name}-2`, description: "second" });
    await pipeds.disable(id);
    await pipeds.disable(id);
    expect(await find({ enabled: true })).toBeUndefined();
    expect(await find()).toMatchObject({ disabled: true });
    await pipeds.enable(id);
    expect(await find({ enabled: true })).toMatchObject({ disabled: false });
    await pipeds.disable(id);
  });

  /** Tests both services if the version has both. */
  test.each(profile === "C" ? ["a token", "an API key"] : ["a token"])(
    "registers, updates, and deletes an application with %s",
    async (credentials) => {
      const web = clientWith();
      const keyName = `client-${randomUUID()}`;
      const client = credentials === "a token" ? web : clientWith(await web.apiKeys?.generate(keyName));
      const environments = await environmentIDs(web);
      const { pipeds, applications } = client;
      const { id: pipedID, key } = await pipeds.register({
        name: `client-${randomUUID()}`,
        description: "",
        environmentIDs: environments,
        keyID: randomUUID(),
      });
      const place = { repository: "examples", path: "kubernetes/canary", configFilename: "app.pipecd.yaml" };
      const wanted = {
        ...place,
        name: "canary",
        pipedID,
        environmentID: environments[0] ?? "",
        provider: "kubernetes-default",
        kind: "KUBERNETES",
        description: "d",
        labels: { env: "test" },
      } as const;
      await expect(applications.add(wanted)).rejects.toThrow(
        profile === "C" ? /AddApplication: NotFound: / : /AddApplication: Internal: /,
      );
      await report(pipedID, key);
      const id = await applications.add(wanted);
      const record = {
        ...place,
        id,
        pipedID,
        provider: "kubernetes-default",
        kind: "KUBERNETES",
        deleted: false,
      };
      expect(await applications.list(pipedID)).toMatchObject([record]);
      const found = await applications.get(id);
      expect(found).toMatchObject(record);
      if (found)
        await applications.update?.(found, { pipedID, provider: "other", configFilename: "b.pipecd.yaml" });
      if (profile === "C")
        expect(await applications.get(id)).toMatchObject({
          provider: "other",
          configFilename: "b.pipecd.yaml",
        });
      await applications.delete(id);
      await applications.delete(id);
      expect(await applications.list(pipedID)).toEqual([]);
      expect(await applications.get(id)).toMatchObject(
        profile === "C" ? { deleted: true } : { disabled: true },
      );
      expect(await applications.get(randomUUID())).toBeUndefined();
      await pipeds.disable(pipedID);
      for (const key of (await web.apiKeys?.list())?.filter(({ name }) => name === keyName) ?? [])
        await web.apiKeys?.disable(key.id);
    },
  );

  test("includes request and response in the error of a rejected call", async () => {
    const stranger = pipecdClient({
      profile,
      projectID: "nobody's",
      web: { address: on.addresses.web, tls: undefined },
      api: { address: on.addresses.api, tls: undefined },
      encryptionKey: Buffer.from("a key that is not the control plane's own"),
      apiKey: undefined,
      signal: AbortSignal.timeout(30_000),
    });
    await expect(stranger.pipeds.list()).rejects.toThrow("ListPipeds: Unauthenticated: Unauthenticated");
  });
});
