/** Sections 3, 4, and 8 of the recording: API keys of v0.57.0, and their permissions. */
import { randomUUID } from "node:crypto";
import { describe } from "vitest";
import type { Metadata } from "../../../deploy/simulators/pipecd/metadata.ts";
import { APIKey_Role, APIKey_RoleSchema } from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import { openEnvironment } from "./environment.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";

const environment = openEnvironment(() => target("C"));
const { web, api, admin } = environment;

const name = `op${tag}`;
const inOther = () => admin({ project: environment.target.otherProject });
const made = ok({ key: "<uuid>.<32 chars>" });
const stranger = fails(16, "Unauthenticated");
const malformed = fails(16, "credentials is malformed");
const missing = fails(16, "missing credentials in authorization");

/** Results of earlier rows. */
const keys = { writer: "", reader: "", other: "", unused: "" };
const pipeds = { own: "", other: "" };
const idOf = (key: string) => key.split(".")[0] ?? "";
const ids = () => Object.values(keys).map(idOf);

describe("3: generating and listing", () => {
  const generate = (
    title: string,
    request: { name?: string; role?: APIKey_Role },
    expected: Expected,
    as?: keyof typeof keys,
  ) =>
    row(title, () => web("generateAPIKey", request, as === "other" ? inOther() : admin()), expected, {
      keep(answer) {
        if (as !== undefined) keys[as] = answer.key;
      },
    });
  const role = APIKey_Role.READ_WRITE;

  generate("generate READ_WRITE", { name, role }, made, "writer");
  generate("generate READ_ONLY (role omitted), same name", { name }, made, "reader");
  generate("generate in project other", { name, role }, made, "other");
  generate(
    "empty name",
    { role },
    fails(3, "invalid request: invalid GenerateAPIKeyRequest.Name: value length must be at least 1 runes"),
  );
  generate(
    "undefined role 9",
    { name: "x", role: 9 as number as APIKey_Role },
    fails(
      3,
      "invalid request: invalid GenerateAPIKeyRequest.Role: value must be one of the defined enum values",
    ),
  );
  generate("name 101 chars", { name: "k".repeat(101) }, fails(13, "Failed to add API key <uuid>"));

  const hash = "<FULL BCRYPT HASH>";
  row(
    "list, never used",
    () => web("listAPIKeys", {}),
    ok([
      {
        name: "op",
        role: "READ_ONLY",
        hash,
        project: "quickstart",
        creator: "contract",
        used: false,
      },
      {
        name: "op",
        role: "READ_WRITE",
        hash,
        project: "quickstart",
        creator: "contract",
        used: false,
      },
    ]),
    {
      pick: (answer) =>
        answer.keys
          .filter(({ id }) => ids().includes(id))
          .toSorted((a, b) => a.role - b.role)
          .map((key) => ({
            name: key.name,
            role: APIKey_RoleSchema.value[key.role]?.name,
            hash: key.keyHash,
            project: key.projectId,
            creator: key.creator,
            used: key.lastUsedAt > 0n,
          })),
    },
  );
  const count = (enabled: boolean, shows: number) =>
    row(`list enabled=${enabled}`, () => web("listAPIKeys", { options: { enabled } }), ok(shows), {
      pick: (answer) => answer.keys.filter(({ id }) => ids().includes(id)).length,
    });
  count(true, 2);
  count(false, 0);
  row(
    "list in project other (empty role list Viewer)",
    () => web("listAPIKeys", {}, admin({ project: environment.target.otherProject, role: "Viewer" })),
    fails(7, "Permission Denied"),
  );
});

describe("4: authentication", () => {
  row("(a piped)", () => web("registerPiped", { name }), ok(), {
    keep({ id }) {
      pipeds.own = id;
    },
  });
  row("(a piped of project other)", () => web("registerPiped", { name }, inOther()), ok(), {
    keep({ id }) {
      pipeds.other = id;
    },
  });

  const get = (title: string, as: () => string | Metadata, expected: Expected) =>
    row(title, () => api("getPiped", { pipedId: pipeds.own }, as()), expected);
  const header = (value: () => string) => (): Metadata => [["authorization", value()]];
  const found = ok(undefined);

  get("good READ_WRITE key", () => keys.writer, found);
  get("good READ_ONLY key", () => keys.reader, found);
  get("no authorization", () => [], missing);
  get(
    "scheme Bearer",
    header(() => `Bearer ${keys.writer}`),
    malformed,
  );
  get(
    "scheme api-key lower case",
    header(() => `api-key ${keys.writer}`),
    malformed,
  );
  get(
    "no scheme",
    header(() => keys.writer),
    malformed,
  );
  get(
    "scheme only",
    header(() => "API-KEY"),
    malformed,
  );
  get(
    "scheme and a space",
    header(() => "API-KEY "),
    malformed,
  );
  get(
    "two spaces",
    header(() => `API-KEY  ${keys.writer}`),
    malformed,
  );
  get(
    "PIPED-TOKEN scheme",
    header(() => `PIPED-TOKEN ${keys.writer}`),
    stranger,
  );
  get("key without dot", () => keys.writer.replace(".", ""), stranger);
  get("unknown key id", () => `${randomUUID()}.${keys.writer.split(".")[1]}`, stranger);
  get("right id, wrong secret", () => `${idOf(keys.writer)}.${"x".repeat(32)}`, stranger);
  get("right key after wrong secret", () => keys.writer, found);
  get("JWT cookie on the API port", () => admin(), missing);
  get("key of project other", () => keys.other, fails(3, "Requested piped does not belong to your project"));
  const refused = fails(7, "Permission denied");
  row("READ_ONLY key, RegisterPiped", () => api("registerPiped", { name: "x" }, keys.reader), refused);
  row(
    "READ_ONLY key, RegisterPiped empty (auth before validation?)",
    () => api("registerPiped", {}, keys.reader),
    fails(3, "invalid request: invalid RegisterPipedRequest.Name: value length must be at least 1 runes"),
  );
  row(
    "READ_ONLY key, DisablePiped",
    () => api("disablePiped", { pipedId: pipeds.own }, keys.reader),
    refused,
  );
  row(
    "ListAPIKeys now (used keys are redacted?)",
    () => web("listAPIKeys", {}),
    ok([
      { hash: "redacted", used: true },
      { hash: "redacted", used: true },
    ]),
    {
      pick: (answer) =>
        answer.keys
          .filter(({ id }) => ids().includes(id))
          .map(({ keyHash, lastUsedAt }) => ({ hash: keyHash, used: lastUsedAt > 0n })),
    },
  );
});

describe("8: disabling", () => {
  const unknownId = randomUUID();
  const disable = (title: string, id: () => string, expected: Expected, as = () => admin()) =>
    row(title, () => web("disableAPIKey", { id: id() }, as()), expected);
  const get = (title: string, key: () => string, expected: Expected) =>
    row(title, () => api("getPiped", { pipedId: pipeds.own }, key()), expected);

  disable("wrong project", () => idOf(keys.writer), fails(13, "Failed to disable API key <uuid>"), inOther);
  disable("unknown id", () => unknownId, fails(5, "Entity was not found to disable API key <uuid>"));
  disable(
    "empty id",
    () => "",
    fails(3, "invalid request: invalid DisableAPIKeyRequest.Id: value length must be at least 1 runes"),
  );
  disable("not a uuid", () => "x", fails(5, "Entity was not found to disable API key x"));
  disable("disable", () => idOf(keys.writer), ok({}));
  disable("disable twice", () => idOf(keys.writer), ok({}));
  get("disabled key directly after (server cache)", () => keys.writer, ok());
  row("generate, unused", () => web("generateAPIKey", { name: `unused${tag}` }), made, {
    keep({ key }) {
      keys.unused = key;
    },
  });
  disable("disable it", () => idOf(keys.unused), ok({}));
  get("disabled key never used before", () => keys.unused, stranger);
  row("list enabled=false", () => web("listAPIKeys", { options: { enabled: false } }), ok(["op", "unused"]), {
    pick: (answer) =>
      answer.keys
        .filter(({ id }) => ids().includes(id))
        .map((key) => key.name)
        .sort(),
  });
  row("GetMe", () => web("getMe", {}), ok({ subject: "contract", project_id: "quickstart" }));
});
