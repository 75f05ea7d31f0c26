/** Sections 11 and 11b of the recording: store outages, with the simulator's stores and clock. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe } from "vitest";
import { Piped_ConnectionStatus } from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import { openEnvironment } from "./environment.ts";
import { createFixtures, reportPiped } from "./fixtures.ts";
import { type Expected, fails, ok, row } from "./rows.ts";
import { simulatedTarget } from "./target.ts";
import { claimsFor, cookie, pipedToken, seconds, signed } from "./tokens.ts";

let passedMillis = 0;
const environment = openEnvironment(() => simulatedTarget("C", () => Date.now() + passedMillis));
const { web, api, piped } = environment;
const fixtures = createFixtures(environment);
reportPiped(environment, fixtures);

const minutes = (count: number) => {
  passedMillis += count * 60_000;
};
/** Valid for hours, so that the test can advance the clock. */
const admin = (project = environment.target.project) => {
  const { encryptionKey: key } = environment.target;
  return cookie(signed({ ...claimsFor({ project, key }), exp: seconds() + 86_400 }, key));
};
const down = (store: "datastore" | "cache", isDown: boolean) =>
  beforeAll(() => {
    environment.target.controlPlane.outage[store] = isDown;
  });

const getPiped = (title: string, expected: Expected, key = () => fixtures.writer) =>
  row(title, () => api("getPiped", { pipedId: fixtures.piped }, key()), expected);
const stranger = fails(16, "Unauthenticated");
const token = () => pipedToken(environment.target.project, fixtures.piped, fixtures.pipedKey);
let application = "";

describe("Redis", () => {
  describe("up", () => {
    const gitPath = { repo: { id: "examples" }, path: "kubernetes/canary" };
    row(
      "(an application)",
      () => web("addApplication", { name: "a", pipedId: fixtures.piped, gitPath }),
      ok(),
      {
        keep({ applicationId }) {
          application = applicationId;
        },
      },
    );
    getPiped("(warm) GetPiped", ok());
    row("(warm) ReportStat", () => piped("reportStat", {}, token()), ok({}));
  });

  describe("down", () => {
    down("cache", true);
    getPiped("redis down: APIService.GetPiped", stranger);
    row("redis down: ListPipeds", () => web("listPipeds", {}), ok(1), {
      pick: ({ pipeds }) => pipeds.length,
    });
    row("redis down: ListPipeds with_status", () => web("listPipeds", { withStatus: true }), ok([0]), {
      pick: ({ pipeds }) => [...new Set(pipeds.map(({ status }) => status))],
    });
    row(
      "redis down: ListAPIKeys",
      () => web("listAPIKeys", {}),
      ok(["<FULL BCRYPT HASH>", "<FULL BCRYPT HASH>"]),
      {
        pick: ({ keys }) => keys.map(({ keyHash }) => keyHash),
      },
    );
    row("redis down: RegisterPiped", () => web("registerPiped", { name: "redisdown" }), ok());
    row(
      "redis down: PipedService.ReportStat",
      () => piped("reportStat", {}, token()),
      fails(13, "failed to store the reported piped stat"),
    );
    row(
      "redis down: SyncApplication",
      () => web("syncApplication", { applicationId: application }),
      ok({ command_id: "<uuid>" }),
    );
  });

  describe("back", () => {
    down("cache", false);
    getPiped("redis back: APIService.GetPiped", ok());
  });
});

describe("MySQL", () => {
  const failed = (title: string, call: Parameters<typeof row>[1], message: string) =>
    row(`mysql down: ${title}`, call, fails(13, message));

  describe("down", () => {
    down("datastore", true);
    failed("ListPipeds", () => web("listPipeds", {}), "Failed to list pipeds");
    failed("RegisterPiped", () => web("registerPiped", { name: "x" }), "Failed to add piped <uuid>");
    failed("GetPiped", () => web("getPiped", { pipedId: fixtures.piped }), "Failed to get piped");
    failed("GenerateAPIKey", () => web("generateAPIKey", { name: "x" }), "Failed to add API key <uuid>");
    failed("ListApplications", () => web("listApplications", { options: {} }), "Failed to list applications");
    failed(
      "ListApplications without options",
      () => web("listApplications", {}),
      "Failed to list applications",
    );
    failed("ListAPIKeys", () => web("listAPIKeys", {}), "Failed to list API keys");
    failed(
      "DisablePiped (project cached)",
      () => web("disablePiped", { pipedId: fixtures.piped }),
      "Failed to get piped",
    );
    failed(
      "DisableApplication",
      () => web("disableApplication", { applicationId: application }),
      "Failed to get application",
    );
    failed(
      "UpdateApplication",
      () => web("updateApplication", { applicationId: application, name: "n", pipedId: fixtures.piped }),
      "Failed to failed to get piped <uuid>",
    );
    failed(
      "SyncApplication",
      () => web("syncApplication", { applicationId: application }),
      "Failed to get application",
    );
    failed(
      "DisableAPIKey",
      () => web("disableAPIKey", { id: randomUUID() }),
      "Failed to disable API key <uuid>",
    );
    getPiped("mysql down: API, cached key", fails(13, "Failed to get piped"));
    getPiped("mysql down: API, uncached key", stranger, () => fixtures.reader);
    row("mysql down: a piped that the process knows", () => piped("reportStat", {}, token()), ok({}));
  });

  describe("back", () => {
    down("datastore", false);
    row("mysql back: ListPipeds", () => web("listPipeds", {}), ok(2), {
      pick: ({ pipeds }) => pipeds.length,
    });
    getPiped("mysql back: API, the key that was not cached", ok(), () => fixtures.reader);
    row(
      "mysql back: DisablePiped, which is cached now",
      () => web("disablePiped", { pipedId: fixtures.piped }),
      ok({}),
    );
  });

  describe("down once more", () => {
    down("datastore", true);
    failed(
      "DisablePiped of a piped whose project is cached",
      () => web("disablePiped", { pipedId: fixtures.piped }),
      "Failed to update piped <uuid>",
    );
    row(
      "mysql down: API, five minutes later",
      () => {
        minutes(5);
        return api("getPiped", { pipedId: fixtures.piped }, fixtures.writer);
      },
      stranger,
    );
  });
});

describe("11b: MySQL and a project stored in it", () => {
  down("datastore", false);
  const list = (title: string, expected: Expected) =>
    row(title, () => web("listPipeds", {}, admin("dbproj")), expected);
  const refused = fails(7, "Permission Denied");

  list("before the project exists", refused);
  describe("after", () => {
    beforeAll(() => environment.target.controlPlane.addProject("dbproj"));
    list("right after ops created it (same server process)", ok({}));
  });
  describe("down", () => {
    down("datastore", true);
    list("MySQL down, RBAC of the project cached", fails(13, "Failed to list pipeds"));
    row(
      "MySQL down, RBAC of the project cached for ten minutes",
      () => {
        minutes(10);
        return web("listPipeds", {}, admin("dbproj"));
      },
      refused,
    );
  });
  describe("back", () => {
    down("datastore", false);
    list("MySQL back", ok({}));
  });
  describe("down, and another process", () => {
    beforeAll(() => environment.target.controlPlane.restart());
    down("datastore", true);
    list("MySQL down, fresh server process (RBAC not cached)", refused);
    row(
      "MySQL down, a project of the configuration",
      () => web("listPipeds", {}, admin()),
      fails(13, "Failed to list pipeds"),
    );
  });
  describe("back again", () => {
    down("datastore", false);
    list("MySQL back", ok({}));
    row("datastore project: Admin JWT", () => web("registerPiped", { name: "x" }, admin("dbproj")), ok());
    row("datastore project: ListPipeds", () => web("listPipeds", {}, admin("dbproj")), ok(1), {
      pick: ({ pipeds }) => pipeds.length,
    });
  });
});

describe("caches of a process", () => {
  row("(EnablePiped)", () => web("enablePiped", { pipedId: fixtures.piped }, admin()), ok({}));
  row("(ReportStat)", () => piped("reportStat", {}, token()), ok({}));
  const status = (title: string, shows: Piped_ConnectionStatus, pass: () => void) =>
    row(
      title,
      () => {
        pass();
        return web("listPipeds", { withStatus: true }, admin());
      },
      ok(shows),
      { pick: ({ pipeds }) => pipeds.find(({ id }) => id === fixtures.piped)?.status },
    );
  status("ONLINE after a report", Piped_ConnectionStatus.ONLINE, () => undefined);
  status("ONLINE a minute later, without another one", Piped_ConnectionStatus.ONLINE, () => minutes(1));
  status("ONLINE in another process: reports are in Redis", Piped_ConnectionStatus.ONLINE, () =>
    environment.target.controlPlane.restart(),
  );
  status("OFFLINE when the report is more than two minutes old", Piped_ConnectionStatus.OFFLINE, () =>
    minutes(1.1),
  );

  const connect = (title: string, expected: Expected, pass?: () => void) =>
    row(
      title,
      () => {
        pass?.();
        return piped("reportStat", {}, token());
      },
      expected,
    );
  connect("(ReportStat)", ok({}));
  row("(DisablePiped)", () => web("disablePiped", { pipedId: fixtures.piped }, admin()), ok({}));
  connect("a disabled piped, within half an hour", ok({}), () => minutes(29));
  connect("a disabled piped, after half an hour", stranger, () => minutes(1));
  row("(EnablePiped)", () => web("enablePiped", { pipedId: fixtures.piped }, admin()), ok({}));
  connect("an enabled piped, at once", ok({}));
});
