/** What the simulated event watcher reports of events whose files cannot be changed, as a real agent of v0.57.0 was seen to do. */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { ApplicationKind, EventStatus } from "../../functions/pipecd/api/generated/c/model_pb.ts";
import { equip, report } from "./contract/equipment.ts";
import { setScene } from "./contract/scene.ts";
import { standIn } from "./contract/target.ts";
import { pipedToken } from "./contract/tokens.ts";
import { openEventWatcher } from "./eventwatcher.ts";
import { PipedService } from "./generated/c/pipedservice_pb.ts";
import { openRepository } from "./repository.ts";

const scene = setScene(() => standIn("C"));
const equipment = equip(scene);
report(scene, equipment);

const watch = (name: string, yamlField: string) => ({
  matcher: { name },
  handler: { type: "GIT_UPDATE", config: { replacements: [{ file: "values.yaml", yamlField }] } },
});
const eventWatcher = [watch("broken", "$.missing"), watch("good", "$.image")];
const repository = openRepository({
  "demo/app.pipecd.yaml": JSON.stringify({ kind: "KubernetesApp", spec: { eventWatcher } }),
  "demo/values.yaml": "image: first\n",
});

test("a file that cannot be changed is reported once the agent handles another event", async () => {
  const { target, web, api } = scene;
  const gitPath = { repo: { id: "examples" }, path: "demo", configFilename: "app.pipecd.yaml" };
  await web("addApplication", {
    ...{ name: "demo", pipedId: equipment.piped, gitPath },
    ...{ kind: ApplicationKind.KUBERNETES, platformProvider: "kubernetes-default" },
  });
  const round = openEventWatcher({
    service: createClient(PipedService, createGrpcTransport({ baseUrl: `http://${target.addresses.piped}` })),
    call: {
      headers: pipedToken(target.project, equipment.piped, equipment.pipedKey) as [string, string][],
    },
    projectID: target.project,
    pipedID: equipment.piped,
    repositories: new Map([["examples", repository]]),
  });
  const register = (name: string) => api("registerEvent", { name, data: "second" }, equipment.writer);
  const found = async (name: string) => (await web("listEvents", { options: { name } })).answer?.events[0];

  await register("broken");
  await round();
  expect(await found("broken")).toMatchObject({ status: EventStatus.EVENT_NOT_HANDLED, handledAt: 0n });

  await register("good");
  await round();
  expect(await found("good")).toMatchObject({ status: EventStatus.EVENT_SUCCESS });
  expect(await found("broken")).toMatchObject({
    status: EventStatus.EVENT_FAILURE,
    statusDescription: expect.stringContaining("Failed to change files: failed to get value at $.missing"),
  });
  expect(repository.files.get("demo/values.yaml")).toBe("image: second\n");
});
