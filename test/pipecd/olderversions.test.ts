/** Differences of versions before v0.57.0 from the simulated control plane, according to their source. */
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type ControlPlane, openControlPlane } from "../../deploy/simulators/pipecd/controlplane.ts";
import { type Served, serve } from "../../deploy/simulators/pipecd/server.ts";
import { pipecdClient } from "../../functions/pipecd/api/client.ts";
import { WebService } from "../../functions/pipecd/api/generated/c/webservice_pb.ts";

const encryptionKey = Buffer.from("0123456789abcdef0123456789abcdef-and-more");
const projectID = "quickstart";

const clientOf = (addresses: Pick<Served, "web" | "api">, version: string, apiKey?: string) =>
  pipecdClient({
    profile: "C",
    version,
    projectID,
    web: { address: addresses.web, tls: undefined },
    api: { address: addresses.api, tls: undefined },
    encryptionKey,
    apiKey,
    signal: AbortSignal.timeout(30_000),
  });

/** Before v0.43.0 ListApplications cannot filter by piped and returns the applications of all pipeds. */
async function serverWithoutFilter(): Promise<string> {
  const applications = ["mine", "other"].map((pipedId) => ({ id: `application-of-${pipedId}`, pipedId }));
  const server = createServer(
    connectNodeAdapter({
      routes: ({ rpc }) => rpc(WebService.method.listApplications, () => ({ applications })),
    }),
  );
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("lists the applications of one piped if the server cannot filter", async () => {
  const address = await serverWithoutFilter();
  const { applications } = clientOf({ web: address, api: address }, "v0.42.1");
  const found = await applications.list("mine");
  expect(found.map(({ id }) => id)).toEqual(["application-of-mine"]);
});

describe("with an API key", () => {
  let plane: ControlPlane;
  let served: Served;

  beforeEach(async () => {
    plane = openControlPlane({ profile: "C", projects: [projectID], encryptionKey });
    served = await serve({ controlPlanes: () => [plane] });
    onTestFinished(() => served.stop());
  });

  test.each([
    ["v0.44.0", "grpc.service.webservice.WebService"],
    ["v0.55.0", "grpc.service.webservice.WebService"],
    ["v0.56.0", "grpc.service.apiservice.APIService"],
  ])("%s adds applications by %s, which keeps labels", async (version, service) => {
    const key = await clientOf(served, version).apiKeys?.generate("test");
    const { applications } = clientOf(served, version, key);
    const add = applications.add({
      name: "a",
      pipedID: "00000000-0000-0000-0000-000000000000",
      environmentID: "",
      repository: "examples",
      path: "kubernetes",
      configFilename: "app.pipecd.yaml",
      provider: "kubernetes-default",
      kind: "KUBERNETES",
      description: "",
      labels: { env: "test" },
    });
    await expect(add).rejects.toThrow("AddApplication: NotFound");
    const call = plane.calls.find(({ method }) => method === "AddApplication");
    expect(call).toMatchObject({ service, request: { labels: { env: "test" } } });
  });

  test("sends deploy targets of PipeCD v1 to the WebService, because only it accepts them", async () => {
    const key = await clientOf(served, "v0.57.0").apiKeys?.generate("test");
    const { pipeds, applications } = clientOf(served, "v0.57.0", key);
    const { id: pipedID } = await pipeds.register({
      name: "p",
      description: "",
      environmentIDs: [],
      keyID: "key",
    });
    const place = { repository: "examples", path: "kubernetes", configFilename: "app.pipecd.yaml" };
    const record = { ...place, id: "00000000-0000-0000-0000-000000000000", name: "a", pipedID, provider: "" };
    const settings = { ...place, pipedID, provider: "", deployTargets: { kubernetes: ["local"] } };
    const added = { name: "a", environmentID: "", kind: "KUBERNETES", description: "", labels: {} } as const;
    await expect(applications.add({ ...settings, ...added })).rejects.toThrow("AddApplication");
    const stored = { ...record, kind: "KUBERNETES", disabled: false, deleted: false } as const;
    await expect(applications.update?.(stored, settings)).rejects.toThrow("UpdateApplication");
    for (const method of ["AddApplication", "UpdateApplication"]) {
      expect(plane.calls.find((call) => call.method === method)).toMatchObject({
        service: "grpc.service.webservice.WebService",
        request: { deployTargetsByPlugin: { kubernetes: { deployTargets: ["local"] } } },
      });
    }
  });
});
