/** The simulator tested with a stock gRPC client, because its own client and server could share an error. */
import { createHmac } from "node:crypto";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { type ControlPlane, openControlPlane } from "../../deploy/simulators/pipecd/controlplane.ts";
import { serve } from "../../deploy/simulators/pipecd/server.ts";
import { WebService } from "../../functions/pipecd/api/generated/c/webservice_pb.ts";

const encryptionKey = "0123456789abcdef0123456789abcdef-and-more";

function cookie(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const seconds = Math.trunc(Date.now() / 1000);
  const role = { project_id: "quickstart", project_rbac_roles: ["Admin"] };
  const claims = {
    iss: "PipeCD",
    sub: "test",
    iat: seconds - 30,
    nbf: seconds - 30,
    exp: seconds + 60,
    role,
  };
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `token=${text}.${createHmac("sha256", encryptionKey).update(text).digest("base64url")}`;
}

describe.each(["plain text", "TLS"])("over %s", (how) => {
  let controlPlane: ControlPlane;
  let client: ReturnType<typeof createClient<typeof WebService>>;

  beforeEach(async () => {
    controlPlane = openControlPlane({ profile: "C", projects: ["quickstart"], encryptionKey });
    const authority = createCertificateAuthority("test");
    const tls = how === "TLS" ? authority.server(["localhost", "127.0.0.1"]) : undefined;
    const served = await serve({ controlPlanes: () => [controlPlane], ...(tls && { tls }) });
    onTestFinished(() => served.stop());
    const transport = createGrpcTransport({
      baseUrl: `${tls ? "https" : "http"}://${served.web}`,
      ...(tls && { nodeOptions: { ca: authority.cert } }),
      interceptors: [
        (next) => (request) => {
          request.header.set("cookie", cookie());
          return next(request);
        },
      ],
    });
    client = createClient(WebService, transport);
  });

  const failure = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => new Error("call succeeded"),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ConnectError);
    const { code, rawMessage } = error as ConnectError;
    return { code, message: rawMessage };
  };

  test("calls methods and reads responses", async () => {
    const { id, key } = await client.registerPiped({ name: "ピペ", desc: "d".repeat(70_000) });
    expect(key).toMatch(/^[a-z0-9]{50}$/);
    const { piped } = await client.getPiped({ pipedId: id });
    expect(piped).toMatchObject({ id, name: "ピペ", keys: [{ hash: "redacted", creator: "test" }] });
    expect(controlPlane.calls.map(({ method, code }) => [method, code])).toEqual([
      ["RegisterPiped", 0],
      ["GetPiped", 0],
    ]);
  });

  test("receives codes and messages", async () => {
    expect(await failure(client.getPiped({ pipedId: "nope" }))).toEqual({
      code: Code.NotFound,
      message: "Piped is not found",
    });
    expect(await failure(client.registerPiped({}))).toEqual({
      code: Code.Internal,
      message: expect.stringMatching(/^Failed to add piped [0-9a-f-]{36}$/),
    });
    expect(await failure(client.addApplication({ name: "a" }))).toEqual({
      code: Code.InvalidArgument,
      message:
        "invalid request: invalid AddApplicationRequest.PipedId: value length must be at least 1 runes",
    });
  });

  // grpc-go and grpc-js report Unavailable in all these cases; this client does not.
  test("fails on a lost response, a panic, and a dead server, until the server restarts", async () => {
    const cutOff = { code: expect.toBeOneOf([Code.Unavailable, Code.Aborted, Code.Canceled]) };
    const lost = controlPlane.loseAnswer("RegisterPiped");
    expect(await failure(client.registerPiped({ name: "lost" }))).toMatchObject(cutOff);
    expect((await lost).code).toBe(0);
    expect(controlPlane.pipeds().map(({ name }) => name)).toEqual(["lost"]);
    expect(await failure(client.listApplications({}))).toMatchObject(cutOff);
    expect(controlPlane.isUp).toBe(false);
    expect(await failure(client.listPipeds({}))).toMatchObject(cutOff);
    controlPlane.restart();
    expect((await client.listPipeds({})).pipeds.length).toBe(1);
  });

  test("a response can be held after the call has taken effect", async () => {
    const held = controlPlane.hold("RegisterPiped");
    const call = client.registerPiped({ name: "held" });
    await held.arrived;
    expect(controlPlane.pipeds().length).toBe(1);
    held.release();
    expect((await call).id).toBe(controlPlane.pipeds()[0]?.id);
  });
});
