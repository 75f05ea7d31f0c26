/** Several control planes on one set of ports: each call reaches the one that knows its credentials. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type ControlPlane, openControlPlane } from "../../deploy/simulators/pipecd/controlplane.ts";
import type { Metadata } from "../../deploy/simulators/pipecd/metadata.ts";
import { type Served, serve } from "../../deploy/simulators/pipecd/server.ts";
import * as c from "../../functions/pipecd/api/generated/c/webservice_pb.ts";
import * as l0 from "../../functions/pipecd/api/generated/l0/webservice_pb.ts";
import { bearer } from "./contract/tokens.ts";
import { openWire, type Wire, type WireReply } from "./contract/wire.ts";
import { simulatePiped } from "./simulatedpiped.ts";

const projects = ["quickstart"];
const keys = { one: "1".repeat(40), two: "2".repeat(40), old: "3".repeat(40) };
let planes: Record<keyof typeof keys, ControlPlane>;
let present: ControlPlane[];
let served: Served;
let wire: Wire;

beforeEach(async () => {
  planes = {
    one: openControlPlane({ profile: "C", projects, encryptionKey: keys.one }),
    two: openControlPlane({ profile: "C", projects, encryptionKey: keys.two }),
    old: openControlPlane({ profile: "L0", projects, encryptionKey: keys.old }),
  };
  present = Object.values(planes);
  served = await serve({ controlPlanes: () => present });
  wire = openWire();
});
afterEach(async () => {
  wire.close();
  await served.stop();
});

const as = (key: string, project = "quickstart"): Metadata => bearer({ project, key: Buffer.from(key) });
const list = (key: string, service = "grpc.service.webservice.WebService"): Promise<WireReply> =>
  wire.call(served.web, `/${service}/ListPipeds`, as(key), new Uint8Array());
const legacy = "pipe.api.service.webservice.WebService";
const callsOf = () => Object.values(planes).map(({ calls }) => calls.length);

test("selects the control plane by encryption key and version", async () => {
  expect((await list(keys.two)).code).toBe(0);
  expect(callsOf()).toEqual([0, 1, 0]);
  expect((await list(keys.old, legacy)).code).toBe(0);
  expect(callsOf()).toEqual([0, 1, 1]);
  expect(await list(keys.one, "a.Service")).toMatchObject({ code: 12, message: "unknown service a.Service" });
});

test("rejects unknown credentials", async () => {
  expect((await list("4".repeat(40))).code).toBe(16);
  // Each version has its own tokens.
  expect((await list(keys.old)).code).toBe(16);
});

test("a control plane that is down drops only its own callers", async () => {
  planes.one.die();
  expect((await list(keys.one)).code).toBe(14);
  expect((await list(keys.two)).code).toBe(0);
  expect((await list("4".repeat(40))).code).toBe(16);
  planes.one.restart();
  expect((await list(keys.one)).code).toBe(0);
});

test("a dying control plane ends only its own calls on a shared connection", async () => {
  const [ofOne, ofTwo] = [planes.one.hold("ListPipeds"), planes.two.hold("ListPipeds")];
  const [cutOff, answered] = [list(keys.one), list(keys.two)];
  await Promise.all([ofOne.arrived, ofTwo.arrived]);
  planes.one.die();
  expect((await cutOff).code).toBe(14);
  ofTwo.release();
  expect((await answered).code).toBe(0);
  expect(served.connections("web")).toBe(1);
});

test("a dying control plane closes the connection if it is the only one", async () => {
  present = [planes.one];
  const held = planes.one.hold("ListPipeds");
  const cutOff = list(keys.one);
  await held.arrived;
  planes.one.die();
  expect((await cutOff).code).toBe(14);
  await expect.poll(() => served.connections("web")).toBe(0);
});

describe("a rollout", () => {
  const newProject = { projects: [...projects, "added"] };
  const inAdded = async (over: Wire): Promise<number> => {
    const path = "/grpc.service.webservice.WebService/ListPipeds";
    return (await over.call(served.web, path, as(keys.one, "added"), new Uint8Array())).code;
  };

  test("keeps open connections on the replaced process and its projects until it ends", async () => {
    expect(await inAdded(wire)).toBe(7);
    const replaced = planes.one.replace(newProject);
    const another = openWire();
    onTestFinished(() => another.close());
    expect([await inAdded(wire), await inAdded(another), await inAdded(wire)]).toEqual([7, 0, 7]);
    replaced.end();
    expect(await inAdded(wire)).toBe(0);
    expect(served.connections("web")).toBe(2);
  });

  test("keeps the database but not the caches of the replaced process", async () => {
    const path = "/grpc.service.webservice.WebService/RegisterPiped";
    await wire.call(served.web, path, as(keys.one), Buffer.from("0a0170", "hex"));
    planes.one.replace({ encryptionKey: "5".repeat(40) });
    expect([(await list(keys.one)).code, (await list("5".repeat(40))).code]).toEqual([0, 16]);
    planes.one.endReplaced();
    expect([(await list(keys.one)).code, (await list("5".repeat(40))).code]).toEqual([16, 0]);
    expect(planes.one.pipeds()).toHaveLength(1);
  });

  test("drops a pending call when the replaced process ends", async () => {
    const held = planes.one.hold("ListPipeds");
    const cutOff = list(keys.one);
    await held.arrived;
    planes.one.replace(newProject).end();
    expect((await cutOff).code).toBe(14);
    expect((await list(keys.one)).code).toBe(0);
  });

  test("ends every process when the control plane dies", async () => {
    expect((await list(keys.one)).code).toBe(0);
    const replaced = planes.one.replace(newProject);
    planes.one.die();
    expect([replaced.isUp, planes.one.isUp]).toEqual([false, false]);
    expect((await list(keys.one)).code).toBe(14);
  });
});

test("control planes can be added and removed, and connections fail without any", async () => {
  present = [planes.two];
  expect((await list(keys.one)).code).toBe(16);
  present = [];
  expect((await list(keys.two)).code).toBe(14);
  present = [planes.one];
  expect((await list(keys.one)).code).toBe(0);
});

test("selects the control plane by API key and by piped", async () => {
  const { one, two } = planes;
  const none = new Uint8Array();
  const generate = "/grpc.service.webservice.WebService/GenerateAPIKey";
  const made = await wire.call(served.web, generate, as(keys.two), Buffer.from("0a016b", "hex"));
  const key = Buffer.from(made.body?.subarray(2) ?? none).toString();
  const byKey: Metadata = [["authorization", `API-KEY ${key}`]];
  const listed = await wire.call(
    served.api,
    "/grpc.service.apiservice.APIService/ListApplications",
    byKey,
    none,
  );
  expect([listed.code, one.calls.length, two.calls.length]).toEqual([0, 0, 2]);

  const register = "/grpc.service.webservice.WebService/RegisterPiped";
  await wire.call(served.web, register, as(keys.two), Buffer.from("0a0170", "hex"));
  const id = two.pipeds()[0]?.id;
  const byPiped: Metadata = [["authorization", `PIPED-TOKEN quickstart,${id},wrong`]];
  await wire.call(served.piped, "/grpc.service.pipedservice.PipedService/ReportStat", byPiped, none);
  expect(two.calls.at(-1)).toMatchObject({ method: "ReportStat", code: 16, project: undefined });
});

test.each(["C", "L0"] as const)("a piped of %s is played", async (profile) => {
  const { schema, answer, service, plane, key } = {
    C: {
      ...{ schema: c.RegisterPipedRequestSchema, answer: c.RegisterPipedResponseSchema },
      ...{ service: c.WebService, plane: planes.one, key: keys.one },
    },
    L0: {
      ...{ schema: l0.RegisterPipedRequestSchema, answer: l0.RegisterPipedResponseSchema },
      ...{ service: l0.WebService, plane: planes.old, key: keys.old },
    },
  }[profile];
  const request = toBinary(schema, create(schema, { name: "p", ...(profile === "L0" && { envIds: ["e"] }) }));
  const made = await wire.call(served.web, `/${service.typeName}/RegisterPiped`, as(key), request);
  const { id, key: pipedKey } = fromBinary(answer, made.body ?? new Uint8Array());
  const { piped: address } = served;
  const played = simulatePiped({ profile, address, project: "quickstart", id, key: pipedKey });
  const remote = "https://github.com/pipe-cd/examples.git";
  expect(await played.start([{ id: "examples", remote, branch: "master" }])).toBe(0);
  expect(await played.beat()).toBe(0);
  played.close();
  expect(plane.pipeds()).toMatchObject([{ id, repositories: ["examples"] }]);
});
