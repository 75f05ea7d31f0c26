/** Section 10 of the recording: requests that crash the server process. Only the simulator is restarted. */
import { beforeEach, describe, expect, test } from "vitest";
import { openEnvironment } from "./environment.ts";
import { createFixtures } from "./fixtures.ts";
import { fails, ok, row } from "./rows.ts";
import { simulatedTarget } from "./target.ts";

const environment = openEnvironment(() => simulatedTarget("C"));
const { web, api, raw, admin } = environment;
const fixtures = createFixtures(environment);

beforeEach(() => {
  if (!environment.target.controlPlane.isUp) environment.target.controlPlane.restart();
});

const dropped = fails(14, "Connection dropped");
const token = () => admin()[0]?.[1] ?? "";

const deadly = (
  title: string,
  call: () => ReturnType<typeof web<"listPipeds" | "listApplications" | "listEvents">>,
) => {
  row(title, call, dropped);
  test(`… and a new process runs after "${title}"`, async () => {
    expect((await web("listPipeds", {})).code).toBe(0);
  });
};

describe("requests that crash the process", () => {
  deadly("ListApplications without options", () => web("listApplications", {}));
  // According to the source; not tried on a running server.
  deadly("ListEvents without options", () => web("listEvents", {}));
  deadly('cookie pair without "="', () => web("listPipeds", {}, [["cookie", "token"]]));
  deadly('cookie with trailing ";"', () => web("listPipeds", {}, [["cookie", `${token()};`]]));
  deadly("empty cookie value", () => web("listPipeds", {}, [["cookie", ""]]));
});

describe("requests that do not", () => {
  const service = "/grpc.service.webservice.WebService";
  row("ListDeployments without options", () => raw("web", `${service}/ListDeployments`, admin()), ok());
  row(
    "ListUnregisteredApplications",
    () => raw("web", `${service}/ListUnregisteredApplications`, admin()),
    ok(),
  );
  row("APIService.ListApplications {}", () => api("listApplications", {}, fixtures.reader), ok({}));
  row(
    "ListApplications without options and credentials",
    () => web("listApplications", {}, []),
    fails(16, "Unauthenticated"),
  );
});

test("answers on no port until it is restarted, and loses no stored data", async () => {
  const { controlPlane } = environment.target;
  await web("listApplications", {});
  expect(controlPlane.isUp).toBe(false);
  expect((await web("listPipeds", {})).code).toBe(14);
  expect((await api("getPiped", { pipedId: fixtures.piped }, fixtures.reader)).code).toBe(14);
  controlPlane.restart();
  const { answer } = await web("getPiped", { pipedId: fixtures.piped });
  expect(answer?.piped?.id).toBe(fixtures.piped);
});

test("drops a call whose response is held when the process dies", async () => {
  const { controlPlane } = environment.target;
  const held = controlPlane.hold("RegisterPiped");
  const call = web("registerPiped", { name: "held" });
  await held.arrived;
  controlPlane.die();
  expect((await call).code).toBe(14);
  expect(controlPlane.pipeds().map(({ name }) => name)).toContain("held");
});
