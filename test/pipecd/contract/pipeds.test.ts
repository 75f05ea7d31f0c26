/** Section 2 of the recording: pipeds in the WebService of v0.57.0, and their keys. */
import { randomUUID } from "node:crypto";
import { describe } from "vitest";
import {
  type Piped,
  type Piped_ConnectionStatus,
  Piped_ConnectionStatusSchema,
} from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import { openEnvironment } from "./environment.ts";
import { type Expected, fails, ok, row, sorted, tag } from "./rows.ts";
import { target } from "./target.ts";
import { claimsFor, cookie, pipedToken, signed } from "./tokens.ts";

const environment = openEnvironment(() => target("C"));
const { web, piped, admin } = environment;

const unknownId = randomUUID();
const registered = { id: "<uuid>", key: "<50 chars [a-z0-9]>" };
const notFound = fails(5, "Piped is not found");
const foreign = fails(7, "Requested piped doesn't belong to the project you logged in");
const empty = (message: string, field = "PipedId") =>
  fails(3, `invalid request: invalid ${message}Request.${field}: value length must be at least 1 runes`);
const notUpdated = fails(13, "Failed to update piped <uuid>");
const inOther = () => admin({ project: environment.target.otherProject });
const nobody = () => {
  const { project, encryptionKey: key } = environment.target;
  return cookie(signed({ ...claimsFor({ project, key }), sub: "" }, key));
};

/** Results of earlier rows: ids by name, and the keys of the first piped. */
const ids: Record<"first" | "second" | "other" | "long" | "described" | "unicode", string> = {
  ...{ first: "", second: "", other: "", long: "", described: "", unicode: "" },
};
const keys: string[] = [];

const nameOf = (status: Piped_ConnectionStatus) => Piped_ConnectionStatusSchema.value[status]?.name;

const own = (pipeds: readonly Piped[]) =>
  sorted(
    pipeds
      .filter(({ id }) => Object.values(ids).includes(id))
      .map(
        ({ name, status, disabled, keys: all }) =>
          `${name}:${nameOf(status)}:${disabled ? "disabled" : "enabled"}:${all.length}key`,
      ),
  );
const listed = (status: string) => [
  `contract-piped:${status}:enabled:1key`,
  `contract-piped:${status}:enabled:1key`,
  `longdesc:${status}:enabled:1key`,
  `${"n".repeat(100)}:${status}:enabled:1key`,
  `ピペ d/ü:${status}:enabled:1key`,
];

describe("registering", () => {
  const register = (
    name: string,
    request: { name?: string; desc?: string },
    expected: Expected,
    as?: keyof typeof ids,
  ) =>
    row(name, () => web("registerPiped", request, as === "other" ? inOther() : admin()), expected, {
      keep(answer) {
        if (as !== undefined) ids[as] = answer.id;
        if (as === "first") keys.push(answer.key);
      },
    });

  register("register", { name: `contract-piped${tag}`, desc: "first" }, ok(registered), "first");
  register(
    "duplicate piped name",
    { name: `contract-piped${tag}`, desc: "second" },
    ok(registered),
    "second",
  );
  register("register in project other", { name: "other-piped" }, ok(registered), "other");
  register("empty name", {}, fails(13, "Failed to add piped <uuid>"));
  register("name 100 chars", { name: "n".repeat(100) }, ok(registered), "long");
  register("name 101 chars", { name: "n".repeat(101) }, fails(13, "Failed to add piped <uuid>"));
  register("desc 70000 chars", { name: "longdesc", desc: "d".repeat(70_000) }, ok(registered), "described");
  register("unicode + spaces name", { name: "ピペ d/ü" }, ok(registered), "unicode");
});

describe("reading", () => {
  const get = (name: string, id: () => string, expected: Expected, as = () => admin()) =>
    row(name, () => web("getPiped", { pipedId: id() }, as()), expected);

  get(
    "get",
    () => ids.first,
    ok({
      piped: {
        id: "<uuid>",
        name: "contract-piped",
        desc: "first",
        project_id: "quickstart",
        created_at: "<unix>",
        updated_at: "<unix>",
        keys: [{ hash: "redacted", creator: "contract", created_at: "<unix>" }],
      },
    }),
  );
  get("get, piped of other project", () => ids.other, foreign);
  get("get, wrong project in JWT", () => ids.first, foreign, inOther);
  get("get, unknown uuid", () => unknownId, notFound);
  get("get, id not a uuid", () => "not-a-uuid", notFound);
  get("get, uuid upper case", () => ids.first.toUpperCase(), ok());
  get("get, empty id", () => "", empty("GetPiped"));

  const list = (
    name: string,
    request: { withStatus?: boolean; options?: { enabled?: boolean } },
    shows: unknown,
  ) => row(name, () => web("listPipeds", request), ok(shows), { pick: ({ pipeds }) => own(pipeds) });

  list("list all", {}, sorted(listed("UNKNOWN")));
  list("list with_status", { withStatus: true }, sorted(listed("OFFLINE")));
  list("list enabled=true", { options: { enabled: true } }, sorted(listed("UNKNOWN")));
  list("list enabled=false", { options: { enabled: false } }, []);
  list("list, options without enabled", { options: {} }, sorted(listed("UNKNOWN")));
});

describe("updating", () => {
  const update = (
    name: string,
    request: () => { pipedId: string; name?: string; desc?: string },
    expected: Expected,
    as = () => admin(),
  ) => row(name, () => web("updatePiped", request(), as()), expected);
  const see = (shows: object) =>
    row("… see", () => web("getPiped", { pipedId: ids.first }), ok(shows), {
      pick: ({ piped: found }) => ({ name: found?.name, desc: found?.desc }),
    });

  const second = `contract-piped-2${tag}`;
  update("update", () => ({ pipedId: ids.first, name: second, desc: "upd" }), ok({}));
  see({ name: "contract-piped-2", desc: "upd" });
  update("update, desc omitted clears it", () => ({ pipedId: ids.first, name: second }), ok({}));
  see({ name: "contract-piped-2", desc: "" });
  update("update, no name", () => ({ pipedId: ids.first }), empty("UpdatePiped", "Name"));
  update("update, wrong project", () => ({ pipedId: ids.first, name: "x" }), foreign, inOther);
  update("update, unknown id", () => ({ pipedId: unknownId, name: "x" }), notFound);
  update("update, name 101 chars", () => ({ pipedId: ids.first, name: "n".repeat(101) }), notUpdated);
});

describe("keys", () => {
  const report = (name: string, key: () => string, expected: Expected, project?: () => string) =>
    row(
      name,
      () => piped("reportStat", {}, pipedToken(project?.() ?? environment.target.project, ids.first, key())),
      expected,
    );
  const recreate = (name: string, id: () => string, expected: Expected, as = () => admin()) =>
    row(name, () => web("recreatePipedKey", { id: id() }, as()), expected, {
      keep: ({ key }) => keys.push(key),
    });
  const deleteOld = (name: string, pipedId: () => string, expected: Expected, as = () => admin()) =>
    row(name, () => web("deleteOldPipedKeys", { pipedId: pipedId() }, as()), expected);
  const key = (number: number) => () => keys[number - 1] ?? "";
  const stranger = fails(16, "Unauthenticated");
  const made = ok({ key: "<50 chars [a-z0-9]>" });

  report("PipedService with key 1 (ReportStat)", key(1), ok({}));
  recreate("RecreatePipedKey -> second key", () => ids.first, made);
  recreate("third piped key", () => ids.first, notUpdated);
  report("both keys work: key 1", key(1), ok({}));
  report("both keys work: key 2", key(2), ok({}));
  deleteOld("DeleteOldPipedKeys (2 keys)", () => ids.first, ok({}));
  row("… see", () => web("getPiped", { pipedId: ids.first }), ok(1), {
    pick: ({ piped: found }) => found?.keys.length,
  });
  report("deleted key 1 directly after (server cache)", key(1), ok({}));
  report("kept key 2", key(2), ok({}));
  deleteOld("DeleteOldPipedKeys (1 key left: no-op)", () => ids.first, ok({}));
  recreate("RecreatePipedKey after delete", () => ids.first, made);
  report("wrong piped key", () => "wrong", stranger);
  report("key 1 after cache was refreshed by a wrong key", key(1), stranger);
  report("key 3", key(3), ok({}));
  report("token with wrong project", key(3), stranger, () => environment.target.otherProject);
  recreate("RecreatePipedKey, unknown id", () => unknownId, notFound);
  recreate("RecreatePipedKey, empty id", () => "", notFound);
  recreate("RecreatePipedKey, not a uuid", () => "nope", notFound);
  recreate("RecreatePipedKey, wrong project", () => ids.first, foreign, inOther);
  recreate("RecreatePipedKey, empty sub", () => ids.second, notUpdated, nobody);
  deleteOld("DeleteOldPipedKeys, unknown id", () => unknownId, notFound);
  deleteOld("DeleteOldPipedKeys, empty id", () => "", empty("DeleteOldPipedKeys"));
  deleteOld("DeleteOldPipedKeys, wrong project", () => ids.first, foreign, inOther);
  row(
    "concurrent: 10 × RecreatePipedKey on a piped with 1 key",
    async () => {
      const all = await Promise.all(
        Array.from({ length: 10 }, () => web("recreatePipedKey", { id: ids.second })),
      );
      // Several calls succeed if they read the same keys; then all but one of the new keys are invalid.
      const refusals = all.filter(({ code }) => code !== 0).map(({ code, message }) => `${code} ${message}`);
      const unexpected = refusals.filter((one) => one !== `13 Failed to update piped ${ids.second}`);
      const found = await web("getPiped", { pipedId: ids.second });
      return refusals.length < 10 && unexpected.length === 0
        ? found
        : { ...found, message: refusals.join("\n") };
    },
    ok(2),
    { pick: ({ piped: found }) => found?.keys.length },
  );
});

describe("disabling", () => {
  const call = (
    method: "disablePiped" | "enablePiped",
    name: string,
    expected: Expected,
    pipedId = () => ids.second,
    as = () => admin(),
  ) => row(name, () => web(method, { pipedId: pipedId() }, as()), expected);
  const contains = (enabled: boolean, shows: boolean) =>
    row(`list enabled=${enabled}`, () => web("listPipeds", { options: { enabled } }), ok(shows), {
      pick: ({ pipeds }) => pipeds.some(({ id }) => id === ids.unicode),
    });
  let key = "";
  const report = (name: string, expected: Expected) =>
    row(
      name,
      () => piped("reportStat", {}, pipedToken(environment.target.project, ids.unicode, key)),
      expected,
    );
  const one = () => ids.unicode;

  call("disablePiped", "DisablePiped", ok({}), one);
  call("disablePiped", "disable twice", ok({}), one);
  contains(true, false);
  contains(false, true);
  row(
    "RecreatePipedKey on a disabled piped",
    () => web("recreatePipedKey", { id: ids.unicode }),
    ok({ key: "<50 chars [a-z0-9]>" }),
    {
      keep(answer) {
        key = answer.key;
      },
    },
  );
  report("disabled piped, never seen by this server, connects", fails(16, "Unauthenticated"));
  call("enablePiped", "EnablePiped", ok({}), one);
  call("enablePiped", "enable twice", ok({}), one);
  report("after enable the piped connects", ok({}));
  call("disablePiped", "DisablePiped again", ok({}), one);
  report("disabled but cached piped still connects?", ok({}));
  call("disablePiped", "DisablePiped, unknown id", notFound, () => unknownId);
  call("disablePiped", "DisablePiped, empty id", empty("DisablePiped"), () => "");
  call("disablePiped", "DisablePiped, wrong project", foreign, one, inOther);
  row("RestartPiped", () => web("restartPiped", { pipedId: ids.first }), ok({ command_id: "<uuid>" }));
  row("RestartPiped, unknown", () => web("restartPiped", { pipedId: unknownId }), notFound);
  row(
    "RestartPiped, wrong project",
    () => web("restartPiped", { pipedId: ids.first }, inOther()),
    fails(7, "Requested Piped does not belong to your project"),
  );
});
