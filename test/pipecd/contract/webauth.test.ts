/** Section 1 of the recording: authorization in the WebService of v0.57.0, and its methods. */
import { createServer } from "node:net";
import { describe } from "vitest";
import { openEnvironment } from "./environment.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";
import { claimsFor, cookie, seconds, signed } from "./tokens.ts";
import { openWire } from "./wire.ts";

const environment = openEnvironment(() => target("C"));
const { web, raw, admin } = environment;

const stranger = fails(16, "Unauthenticated");
const refused = fails(7, "Permission Denied");

const claims = (changes: object = {}) => {
  const { project, encryptionKey } = environment.target;
  return { ...claimsFor({ project, key: encryptionKey }), ...changes };
};
const role = (changes: object) => ({ project_id: environment.target.project, ...changes });
const key = () => environment.target.encryptionKey;
const without = (name: string) =>
  Object.fromEntries(Object.entries(claims()).filter(([one]) => one !== name));
const token = (changes: object = {}) => signed(claims(changes), key());

describe("tokens", () => {
  const list = (name: string, header: () => string, expected: Expected) =>
    row(name, () => web("listPipeds", {}, [["cookie", header()]]), expected);
  const listWith = (name: string, text: () => string, expected: Expected) =>
    list(name, () => `token=${text()}`, expected);

  listWith("good JWT", token, ok());
  row("no cookie metadata", () => web("listPipeds", {}, []), stranger);
  row(
    "authorization header instead of cookie",
    () => web("listPipeds", {}, [["authorization", `Bearer ${token()}`]]),
    stranger,
  );
  list("cookie without token pair", () => "a=b", stranger);
  list("empty token", () => "token=", stranger);
  list("garbage token", () => "token=garbage", stranger);
  listWith("bad signature (other key)", () => signed(claims(), Buffer.from("x".repeat(40))), stranger);
  listWith("key = first 32 bytes only", () => signed(claims(), key().subarray(0, 32)), stranger);
  listWith(
    "key with trailing newline",
    () => signed(claims(), Buffer.concat([key(), Buffer.from("\n")])),
    stranger,
  );
  listWith("alg none", () => signed(claims(), key(), "none"), stranger);
  listWith("alg HS512, right key", () => signed(claims(), key(), "HS512"), stranger);
  listWith("wrong iss", () => token({ iss: "pipecd" }), stranger);
  listWith("no iss", () => signed(without("iss"), key()), stranger);
  listWith("expired JWT (exp 1 h ago)", () => token({ exp: seconds() - 3600 }), stranger);
  listWith("expired JWT (exp 1 s ago)", () => token({ exp: seconds() - 1 }), stranger);
  listWith("no exp", () => signed(without("exp"), key()), stranger);
  listWith("exp as string", () => token({ exp: String(seconds() + 600) }), ok());
  listWith("exp as float", () => token({ exp: seconds() + 600.5 }), ok());
  listWith("exp as text that is no number", () => token({ exp: "tomorrow" }), stranger);
  listWith("nbf 60 s in the future", () => token({ nbf: seconds() + 60 }), stranger);
  listWith("iat 60 s in the future", () => token({ iat: seconds() + 60 }), stranger);
  listWith(
    "no iat, no nbf",
    () => {
      const { iat: _, nbf: __, ...rest } = claims() as Record<string, unknown>;
      return signed(rest, key());
    },
    ok(),
  );
  listWith("exp in 30 days", () => token({ exp: seconds() + 30 * 86_400 }), ok());
  listWith("aud as string / unknown claims", () => token({ aud: "a", unknown: { claim: 1 } }), ok());
  listWith("empty sub (list)", () => token({ sub: "" }), ok());
  list("several cookies in one header", () => `a=b; token=${token()}; c=d`, ok());
  list("trailing semicolon-free quoted token", () => `token="${token()}"`, stranger);
  row(
    "two cookie metadata entries, token in the second",
    () =>
      web("listPipeds", {}, [
        ["cookie", "a=b"],
        ["cookie", `token=${token()}`],
      ]),
    stranger,
  );
});

describe("roles and projects", () => {
  const list = (name: string, changes: () => object, expected: Expected) =>
    row(name, () => web("listPipeds", {}, cookie(token(changes()))), expected);

  list("no role claim", () => ({ role: undefined }), refused);
  list("role: project_role number only (L0 form)", () => ({ role: role({ project_role: 2 }) }), refused);
  list(
    "role: project_rbac_roles as string",
    () => ({ role: role({ project_rbac_roles: "Admin" }) }),
    stranger,
  );
  list(
    "role: camelCase keys",
    () => ({ role: { projectId: environment.target.project, projectRbacRoles: ["Admin"] } }),
    refused,
  );
  list("role: unknown role name", () => ({ role: role({ project_rbac_roles: ["Owner"] }) }), refused);
  list("role: lower case admin", () => ({ role: role({ project_rbac_roles: ["admin"] }) }), refused);
  list("role Viewer (list)", () => ({ role: role({ project_rbac_roles: ["Viewer"] }) }), ok());
  list("role Editor (list)", () => ({ role: role({ project_rbac_roles: ["Editor"] }) }), ok());
  const all = { project_rbac_roles: ["Admin"] };
  list("unknown project id", () => ({ role: { project_id: `nope${tag}`, ...all } }), refused);
  list("empty project id", () => ({ role: { project_id: "", ...all } }), refused);
  list(
    "other project of the config",
    () => ({ role: { project_id: environment.target.otherProject, ...all } }),
    ok(),
  );

  row("role Viewer, write", () => web("registerPiped", { name: "v" }, admin({ role: "Viewer" })), refused);
  row(
    "role Editor, RegisterPiped",
    () => web("registerPiped", { name: "e" }, admin({ role: "Editor" })),
    refused,
  );
  row(
    "role Editor, GenerateAPIKey",
    () => web("generateAPIKey", { name: "e" }, admin({ role: "Editor" })),
    refused,
  );
  row(
    "role Editor, AddApplication (empty request)",
    () => web("addApplication", {}, admin({ role: "Editor" })),
    fails(3, "invalid request: invalid AddApplicationRequest.Name: value length must be at least 1 runes"),
  );
  row(
    "empty sub, RegisterPiped",
    () => web("registerPiped", { name: "nosub" }, cookie(token({ sub: "" }))),
    fails(13, "Failed to add piped <uuid>"),
  );
  row(
    "no sub, GenerateAPIKey",
    () => web("generateAPIKey", { name: "nosub" }, cookie(signed(without("sub"), key()))),
    fails(13, "Failed to add API key <uuid>"),
  );
});

describe("methods", () => {
  const service = "grpc.service.webservice.WebService";
  const unknownMethod = fails(12, `unknown method AddEnvironment for service ${service}`);

  row("unknown method", () => raw("web", `/${service}/AddEnvironment`, admin()), unknownMethod);
  row("unknown method without cookie", () => raw("web", `/${service}/AddEnvironment`), unknownMethod);
  row(
    "L0 package on C",
    () => raw("web", "/pipe.api.service.webservice.WebService/ListPipeds", admin()),
    fails(12, "unknown service pipe.api.service.webservice.WebService"),
  );
  row(
    "WebService method on the API port",
    () => raw("api", `/${service}/ListPipeds`, admin()),
    fails(12, `unknown service ${service}`),
  );
  row(
    "known method at the API port, no credentials",
    () => raw("api", "/grpc.service.apiservice.APIService/GetPiped"),
    fails(16, "missing credentials in authorization"),
  );
  row(
    "a path without a method",
    () => raw("web", "/ListPipeds"),
    fails(12, 'malformed method name: "/ListPipeds"'),
  );
  row(
    "bytes that are no message, without a cookie",
    () => raw("web", `/${service}/ListPipeds`, [], Buffer.from("ff", "hex")),
    fails(13, "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data"),
  );
  row(
    "closed port",
    async () => {
      const wire = openWire();
      const { code } = await wire.call(await closedPort(), `/${service}/ListPipeds`, [], new Uint8Array());
      wire.close();
      return { ...(await raw("web", "/")), code, message: "" };
    },
    fails(14, ""),
  );
});

/** A port without a listener. */
const closedPort = (): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" ? address?.port : undefined;
      server.close(() => resolve(`127.0.0.1:${port}`));
    });
  });
