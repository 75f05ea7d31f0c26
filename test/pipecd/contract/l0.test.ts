/** PipeCD v0.9.0 after its source, because there is no recording: callers, environments, and pipeds. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { Piped_ConnectionStatus } from "../../../functions/pipecd/api/generated/l0/model_pb.ts";
import { openEnvironment } from "./environment.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { simulatedTarget, target } from "./target.ts";
import { claimsFor, cookie, pipedToken, seconds, signed } from "./tokens.ts";

const environment = openEnvironment(() => target("L0"));
const { webL0: web, pipedL0: piped, raw, admin } = environment;

const stranger = fails(16, "Unauthenticated");
const refused = fails(7, "Permission Denied");
const inOther = () => admin({ project: environment.target.otherProject });
const tooShort = (field: string) =>
  fails(3, `invalid request: invalid ${field}: value length must be at least 1 runes`);

describe("who calls", () => {
  const claims = (changes: object = {}) => {
    const { project, encryptionKey: key } = environment.target;
    return { ...claimsFor({ project, key }), ...changes };
  };
  const token = (changes: object = {}) => signed(claims(changes), environment.target.encryptionKey);
  const list = (title: string, header: () => string, expected: Expected) =>
    row(title, () => web("listPipeds", {}, [["cookie", header()]]), expected);
  const listWith = (title: string, changes: () => object, expected: Expected) =>
    list(title, () => `token=${token(changes())}`, expected);
  const role = (changes: object) => () => ({ role: { project_id: environment.target.project, ...changes } });

  listWith("good JWT", () => ({}), ok());
  row("no cookie metadata", () => web("listPipeds", {}, []), stranger);
  list("cookie pair without =", () => "token", stranger);
  list("cookie with trailing ;", () => `token=${token()};`, stranger);
  list("empty cookie value", () => "", stranger);
  list("cookie pair with two =", () => `a=b=c; token=${token()}`, stranger);
  list("several cookies in one header", () => `a=b; token=${token()}`, ok());
  listWith("no exp", () => ({ exp: undefined }), stranger);
  listWith("no iat", () => ({ iat: undefined }), stranger);
  listWith("no nbf", () => ({ nbf: undefined }), stranger);
  listWith("exp as string", () => ({ exp: String(seconds() + 600) }), stranger);
  listWith("exp as float", () => ({ exp: seconds() + 600.5 }), stranger);
  listWith("expired", () => ({ exp: seconds() - 10 }), stranger);
  listWith("nbf in the future", () => ({ nbf: seconds() + 60 }), stranger);
  listWith("wrong iss", () => ({ iss: "other" }), stranger);
  listWith("aud as a list", () => ({ aud: ["a"] }), stranger);
  listWith("aud as text", () => ({ aud: "a" }), ok());
  listWith("an unknown project", () => ({ role: { project_id: `nope${tag}`, project_role: 2 } }), ok({}));
  listWith("role as the name of v0.57.0 is a viewer", role({ project_rbac_roles: ["Admin"] }), ok());
  listWith("role as text", role({ project_role: "ADMIN" }), stranger);
  listWith("a role that is none", role({ project_role: 3 }), refused);

  const write = (title: string, project_role: number, expected: Expected) =>
    row(title, () => web("addEnvironment", {}, cookie(token(role({ project_role })()))), expected);
  write("viewers do not write", 0, refused);
  write("editors do not write", 1, refused);
  write("administrators do, after validation", 2, tooShort("AddEnvironmentRequest.Name"));

  const service = "pipe.api.service.webservice.WebService";
  row(
    "a method of later versions",
    () => raw("web", `/${service}/UpdatePiped`),
    fails(12, `unknown method UpdatePiped for service ${service}`),
  );
  row(
    "the package of later versions",
    () => raw("web", "/grpc.service.webservice.WebService/ListPipeds", admin()),
    fails(12, "unknown service grpc.service.webservice.WebService"),
  );
});

/** Results of earlier rows. */
const ids = { environment: "", piped: "", other: "", disabled: "" };
const keys: string[] = [];

describe("environments", () => {
  const name = `env${tag}`;
  row("AddEnvironment does not tell the id", () => web("addEnvironment", { name, desc: "d" }), ok({}));
  row("the same name once more", () => web("addEnvironment", { name }), ok({}));
  row(
    "ListEnvironments",
    () => web("listEnvironments", {}),
    ok([
      ["env", "d"],
      ["env", ""],
    ]),
    {
      pick: ({ environments }) =>
        environments.filter((one) => one.name === name).map((one) => [one.name, one.desc]),
      keep({ environments }) {
        ids.environment = environments.find((one) => one.name === name)?.id ?? "";
      },
    },
  );
  row("ListEnvironments, Viewer of project other", () => web("listEnvironments", {}, inOther()), ok(0), {
    pick: ({ environments }) => environments.filter((one) => one.name === name).length,
  });
  row("UpdateEnvironmentDesc", () => web("updateEnvironmentDesc", {}), fails(12, ""));
});

describe("pipeds", () => {
  const name = `piped${tag}`;
  const registered = ok({ id: "<uuid>", key: "<50 chars [a-z0-9]>" });
  const envIds = () => [ids.environment];
  const register = (title: string, request: () => object, expected: Expected, as?: keyof typeof ids) =>
    row(title, () => web("registerPiped", request(), as === "other" ? inOther() : admin()), expected, {
      keep({ id, key }) {
        if (as !== undefined) ids[as] = id;
        if (as === "piped") keys.push(key);
      },
    });

  register("register", () => ({ name, desc: "d", envIds: envIds() }), registered, "piped");
  register("duplicate name", () => ({ name, envIds: envIds() }), registered, "disabled");
  register(
    "in project other, with an unknown environment",
    () => ({ name, envIds: ["e"] }),
    registered,
    "other",
  );
  register("name 101 chars", () => ({ name: "n".repeat(101), envIds: envIds() }), registered);
  register("empty name", () => ({ envIds: envIds() }), fails(13, "Failed to register piped"));
  register(
    "no environment",
    () => ({ name }),
    fails(3, "invalid request: invalid RegisterPipedRequest.EnvIds: value must contain at least 1 item(s)"),
  );

  const get = (title: string, pipedId: () => string, expected: Expected, as = () => admin()) =>
    row(title, () => web("getPiped", { pipedId: pipedId() }, as()), expected);
  get(
    "GetPiped: returns the hashes of the keys",
    () => ids.piped,
    ok({
      piped: {
        id: "<uuid>",
        name: "piped",
        desc: "d",
        key_hash: "redacted",
        project_id: "quickstart",
        env_ids: ["<uuid>"],
        status: "OFFLINE",
        created_at: "<unix>",
        updated_at: "<unix>",
        keys: [{ hash: "<FULL BCRYPT HASH>", creator: "contract", created_at: "<unix>" }],
      },
    }),
  );
  get(
    "GetPiped, project other",
    () => ids.piped,
    fails(7, "Requested piped doesn't belong to the project you logged in"),
    inOther,
  );
  get("GetPiped, unknown", () => randomUUID(), fails(5, "Piped is not found"));
  get("GetPiped, upper case: ids are text", () => ids.piped.toUpperCase(), fails(5, "Piped is not found"));
  get("GetPiped, empty", () => "", tooShort("GetPipedRequest.PipedId"));

  const recreate = (title: string, id: () => string, expected: Expected) =>
    row(title, () => web("recreatePipedKey", { id: id() }), expected, { keep: ({ key }) => keys.push(key) });
  const made = ok({ key: "<50 chars [a-z0-9]>" });
  recreate("RecreatePipedKey -> second key", () => ids.piped, made);
  recreate("third key", () => ids.piped, made);
  recreate("fourth key: the oldest one goes", () => ids.piped, made);
  row("… see", () => web("getPiped", { pipedId: ids.piped }), ok(3), {
    pick: ({ piped: found }) => found?.keys.length,
  });
  recreate("RecreatePipedKey, empty id", () => "", fails(5, "Piped is not found"));
  row(
    "RecreatePipedKey, empty sub",
    () => {
      const { project, encryptionKey: key } = environment.target;
      const nobody = cookie(signed({ ...claimsFor({ project, key }), sub: "" }, key));
      return web("recreatePipedKey", { id: ids.piped }, nobody);
    },
    // Ends with a space.
    fails(13, "Failed to update the piped "),
  );

  const list = (title: string, enabled: boolean | undefined, shows: readonly string[]) =>
    row(title, () => web("listPipeds", enabled === undefined ? {} : { options: { enabled } }), ok(shows), {
      pick: ({ pipeds }) =>
        [ids.piped, ids.disabled]
          .filter((id) => pipeds.some((one) => one.id === id))
          .map((id) => (id === ids.piped ? "enabled" : "disabled")),
    });
  row("DisablePiped", () => web("disablePiped", { pipedId: ids.disabled }), ok({}));
  row("disable twice", () => web("disablePiped", { pipedId: ids.disabled }), ok({}));
  list("list", undefined, ["enabled", "disabled"]);
  list("list enabled=true", true, ["enabled"]);
  list("list enabled=false", false, ["disabled"]);
  row("EnablePiped", () => web("enablePiped", { pipedId: ids.disabled }), ok({}));
  list("list enabled=false after that", false, []);
});

describe("a running piped", () => {
  const token = (key: () => string) => pipedToken(environment.target.project, ids.piped, key());
  const repositories = [
    { id: "examples", remote: "https://github.com/pipe-cd/examples.git", branch: "master" },
  ];
  const report = (title: string, key: () => string, expected: Expected) =>
    row(title, () => piped("reportPipedMeta", { version: "v0.9.0", repositories }, token(key)), expected);
  const status = (title: string, withStatus: boolean, shows: Piped_ConnectionStatus) =>
    row(title, () => web("listPipeds", { withStatus }), ok(shows), {
      pick: ({ pipeds }) => pipeds.find(({ id }) => id === ids.piped)?.status,
    });
  const { ONLINE, OFFLINE } = Piped_ConnectionStatus;

  status("before: OFFLINE", true, OFFLINE);
  report("the removed key", () => keys[0] ?? "", stranger);
  report("the newest key", () => keys.at(-1) ?? "", ok({}));
  status("ONLINE from the first report", true, ONLINE);
  status("… with and without withStatus", false, ONLINE);
  row(
    "Ping",
    () =>
      piped(
        "ping",
        { pipedStats: { version: "v0.9.0", timestamp: 1n } },
        token(() => keys.at(-1) ?? ""),
      ),
    ok({}),
  );
});

describe("the simulator only", () => {
  const alone = openEnvironment(() => simulatedTarget("L0"));

  beforeAll(() => {
    alone.target.controlPlane.outage.datastore = true;
  });
  const failed = (title: string, call: Parameters<typeof row>[1], message: string) =>
    row(`MongoDB down: ${title}`, call, fails(13, message));
  failed(
    "AddEnvironment",
    () => alone.webL0("addEnvironment", { name: "e" }),
    "Failed to create environment",
  );
  failed("ListEnvironments", () => alone.webL0("listEnvironments", {}), "Failed to get environments");
  failed(
    "RegisterPiped",
    () => alone.webL0("registerPiped", { name: "p", envIds: ["e"] }),
    "Failed to register piped",
  );
  failed("ListPipeds", () => alone.webL0("listPipeds", {}), "Failed to get pipeds");
  failed("GetPiped", () => alone.webL0("getPiped", { pipedId: "p" }), "Failed to get piped");
  failed("ListApplications", () => alone.webL0("listApplications", {}), "Failed to get applications");

  test("a call with a lost response has taken effect", async () => {
    const { controlPlane } = alone.target;
    controlPlane.outage.datastore = false;
    const lost = controlPlane.loseAnswer("AddEnvironment");
    expect((await alone.webL0("addEnvironment", { name: "lost" })).code).toBe(14);
    expect((await lost).project).toBe("quickstart");
    expect(controlPlane.environments()).toMatchObject([{ name: "lost", project: "quickstart" }]);
  });
});
