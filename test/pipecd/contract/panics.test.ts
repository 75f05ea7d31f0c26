/** Section 10 of the recording: requests that end the server's process. Only the stand-in is started again. */
import { beforeEach, describe, expect, test } from "vitest";
import { equip } from "./equipment.ts";
import { fails, ok, row } from "./rows.ts";
import { setScene } from "./scene.ts";
import { standIn } from "./target.ts";

const scene = setScene(() => standIn("C"));
const { web, api, raw, admin } = scene;
const equipment = equip(scene);

beforeEach(() => {
  if (!scene.target.controlPlane.isUp) scene.target.controlPlane.restart();
});

const dropped = fails(14, "Connection dropped");
const token = () => admin()[0]?.[1] ?? "";

const deadly = (
  title: string,
  call: () => ReturnType<typeof web<"listPipeds" | "listApplications" | "listEvents">>,
) => {
  row(title, call, dropped);
  test(`… and the process after "${title}" is another one`, async () => {
    expect((await web("listPipeds", {})).code).toBe(0);
  });
};

describe("requests that end the process", () => {
  deadly("ListApplications without options", () => web("listApplications", {}));
  // By the source: it was not tried on a running server.
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
  row("APIService.ListApplications {}", () => api("listApplications", {}, equipment.reader), ok({}));
  row(
    "ListApplications without options by nobody",
    () => web("listApplications", {}, []),
    fails(16, "Unauthenticated"),
  );
});

test("until it is started again, nobody gets an answer at any port, and nothing that was stored is lost", async () => {
  const { controlPlane } = scene.target;
  await web("listApplications", {});
  expect(controlPlane.isUp).toBe(false);
  expect((await web("listPipeds", {})).code).toBe(14);
  expect((await api("getPiped", { pipedId: equipment.piped }, equipment.reader)).code).toBe(14);
  controlPlane.restart();
  const { answer } = await web("getPiped", { pipedId: equipment.piped });
  expect(answer?.piped?.id).toBe(equipment.piped);
});

test("a call that waits for its answer when the process dies does not get it", async () => {
  const { controlPlane } = scene.target;
  const held = controlPlane.hold("RegisterPiped");
  const call = web("registerPiped", { name: "held" });
  await held.arrived;
  controlPlane.die();
  expect((await call).code).toBe(14);
  expect(controlPlane.pipeds().map(({ name }) => name)).toContain("held");
});
