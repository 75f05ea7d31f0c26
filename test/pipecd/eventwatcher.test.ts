/** Reports of the simulated event watcher about events whose files cannot be changed, as observed with a real piped of v0.57.0. */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { openEventWatcher } from "../../deploy/simulators/pipecd/eventwatcher.ts";
import { PipedService } from "../../deploy/simulators/pipecd/generated/c/pipedservice_pb.ts";
import { openRepository } from "../../deploy/simulators/pipecd/repository.ts";
import { ApplicationKind, EventStatus } from "../../functions/pipecd/api/generated/c/model_pb.ts";
import { openEnvironment } from "./contract/environment.ts";
import { createFixtures, reportPiped } from "./contract/fixtures.ts";
import { simulatedTarget } from "./contract/target.ts";
import { pipedToken } from "./contract/tokens.ts";

const environment = openEnvironment(() => simulatedTarget("C"));
const fixtures = createFixtures(environment);
reportPiped(environment, fixtures);

const watch = (name: string, yamlField: string) => ({
  matcher: { name },
  handler: { type: "GIT_UPDATE", config: { replacements: [{ file: "values.yaml", yamlField }] } },
});

/** A repository with an application that has these watchers, and one round of its piped. */
async function watched(id: "examples" | "short", eventWatcher: readonly object[]) {
  const { target, web } = environment;
  const gitPath = { repo: { id }, path: "demo", configFilename: "app.pipecd.yaml" };
  await web("addApplication", {
    ...{ name: id, pipedId: fixtures.piped, gitPath },
    ...{ kind: ApplicationKind.KUBERNETES, platformProvider: "kubernetes-default" },
  });
  const repository = openRepository({
    "demo/app.pipecd.yaml": JSON.stringify({ kind: "KubernetesApp", spec: { eventWatcher } }),
    "demo/values.yaml": "image: first\n",
  });
  const headers = pipedToken(target.project, fixtures.piped, fixtures.pipedKey) as [string, string][];
  const round = openEventWatcher({
    service: createClient(PipedService, createGrpcTransport({ baseUrl: `http://${target.addresses.piped}` })),
    call: { headers },
    projectID: target.project,
    pipedID: fixtures.piped,
    repositories: new Map([[id, repository]]),
  });
  return { repository, round };
}

const register = (name: string) =>
  environment.api("registerEvent", { name, data: "second" }, fixtures.writer);
const found = async (name: string) =>
  (await environment.web("listEvents", { options: { name } })).answer?.events[0];

test("reports an unchangeable file once the piped handles another event", async () => {
  const { round, repository } = await watched("examples", [
    watch("broken", "$.missing"),
    watch("good", "$.image"),
  ]);
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

test("retries a rejected push without a report, and reports any other push failure", async () => {
  const { round, repository } = await watched("short", [watch("refused", "$.image")]);
  repository.rejectPushes(
    "! [remote rejected] main -> main (pre-receive hook declined)\nerror: failed to push some refs to 'origin'",
  );
  await register("refused");
  await round();
  expect(await found("refused")).toMatchObject({ status: EventStatus.EVENT_NOT_HANDLED, handledAt: 0n });

  repository.rejectPushes("fatal: Could not read from remote repository.");
  await round();
  expect(await found("refused")).toMatchObject({
    status: EventStatus.EVENT_FAILURE,
    statusDescription: "Failed to push changed files: fatal: Could not read from remote repository.",
  });
});
