/** Section 12 of the recording: a control plane of v0.57.0 with a piped that the test simulates. */
import { beforeAll, describe, expect, test } from "vitest";
import { Piped_ConnectionStatus } from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import { openEnvironment } from "./environment.ts";
import { createFixtures, meta } from "./fixtures.ts";
import { ok, row, tag } from "./rows.ts";
import { simulatedTarget, target } from "./target.ts";
import { pipedToken } from "./tokens.ts";

describe("a piped that starts and reports", () => {
  const environment = openEnvironment(() => target("C"));
  const { web, piped } = environment;
  const fixtures = createFixtures(environment);
  const token = () => pipedToken(environment.target.project, fixtures.piped, fixtures.pipedKey);
  const { OFFLINE, ONLINE, UNKNOWN } = Piped_ConnectionStatus;
  const list = (title: string, withStatus: boolean, shows: Piped_ConnectionStatus) =>
    row(title, () => web("listPipeds", { withStatus }), ok(shows), {
      pick: ({ pipeds }) => pipeds.find(({ id }) => id === fixtures.piped)?.status,
    });

  list("before start: ListPipeds with_status", true, OFFLINE);
  row(
    "piped reports meta",
    () =>
      piped(
        "reportPipedMeta",
        { ...meta, secretEncryption: { type: "NONE" }, config: "pipedID: x" },
        token(),
      ),
    ok(),
  );
  row(
    "repositories reported",
    () => web("listPipeds", { withStatus: true }),
    ok({
      status: OFFLINE,
      version: "v0.57.0",
      started_at: "set",
      repositories: ["examples", "nobranch", "localrepo", "short", "file"],
      platform_providers: [["kubernetes-default", "KUBERNETES"]],
      secret_encryption: "NONE",
      config: "pipedID: x",
    }),
    {
      pick({ pipeds }) {
        const found = pipeds.find(({ id }) => id === fixtures.piped);
        return {
          status: found?.status,
          version: found?.version,
          started_at: (found?.startedAt ?? 0n) > 0n ? "set" : "unset",
          repositories: found?.repositories.map(({ id }) => id),
          platform_providers: found?.platformProviders.map(({ name, type }) => [name, type]),
          secret_encryption: found?.secretEncryption?.type,
          config: found?.config,
        };
      },
    },
  );
  row("ReportStat", () => piped("reportStat", {}, token()), ok({}));
  list("ListPipeds with_status", true, ONLINE);
  list("ListPipeds without with_status", false, UNKNOWN);
  row("GetPiped", () => web("getPiped", { pipedId: fixtures.piped }), ok(UNKNOWN), {
    pick: ({ piped: found }) => found?.status,
  });
  row(
    "another report without repositories replaces them",
    () => piped("reportPipedMeta", { version: "v0.57.0" }, token()),
    ok(),
  );
  row("… see", () => web("getPiped", { pipedId: fixtures.piped }), ok([]), {
    pick: ({ piped: found }) => found?.repositories.map(({ id }) => id),
  });
});

describe("two concurrent changes of a piped", () => {
  const environment = openEnvironment(() => simulatedTarget("C"));
  const { web, piped } = environment;
  const fixtures = createFixtures(environment);

  test("may both succeed although one is lost, and its key is invalid", async () => {
    const id = fixtures.piped;
    environment.target.controlPlane.loseUpdate();
    const [lost, kept] = [await web("recreatePipedKey", { id }), await web("recreatePipedKey", { id })];
    const report = async (key = "") =>
      (await piped("reportStat", {}, pipedToken("quickstart", id, key))).code;
    expect([lost.code, kept.code]).toEqual([0, 0]);
    expect(await report(lost.answer?.key)).toBe(16);
    expect(await report(kept.answer?.key)).toBe(0);
    expect(environment.target.controlPlane.pipeds().find((one) => one.id === id)?.keys).toBe(2);
  });
});

describe("an application whose file in git differs", () => {
  const environment = openEnvironment(() => simulatedTarget("C"));
  const { web, piped } = environment;
  const fixtures = createFixtures(environment);
  let id = "";
  beforeAll(async () => {
    await piped("reportPipedMeta", meta, pipedToken("quickstart", fixtures.piped, fixtures.pipedKey));
    const { answer } = await web("addApplication", {
      name: `name-from-operator${tag}`,
      pipedId: fixtures.piped,
      gitPath: { repo: { id: "examples" }, path: "demo", configFilename: "app.pipecd.yaml" },
    });
    id = answer?.applicationId ?? "";
  });

  test("gets the file's name and is not found by its former name", async () => {
    const { controlPlane } = environment.target;
    const fields = { name: "name-from-git", labels: { env: "from-git" }, description: "desc-from-git" };
    controlPlane.overwriteFromGit(id, fields);
    const { answer } = await web("getApplication", { applicationId: id });
    expect(answer?.application).toMatchObject({ ...fields, gitPath: { path: "demo" } });
    const named = await web("listApplications", { options: { name: `name-from-operator${tag}` } });
    expect(named.answer?.applications).toEqual([]);
    expect(controlPlane.applications()).toMatchObject([
      { id, ...fields, repository: "examples", path: "demo" },
    ]);
  });
});
