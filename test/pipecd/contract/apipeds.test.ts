/** Section 5 of the recording: pipeds in the APIService of v0.57.0. */
import { randomUUID } from "node:crypto";
import { describe } from "vitest";
import { openEnvironment } from "./environment.ts";
import { createFixtures } from "./fixtures.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";

const environment = openEnvironment(() => target("C"));
const { api } = environment;
const fixtures = createFixtures(environment);

const unknownId = randomUUID();
const writer = () => fixtures.writer;
const tooShort = (field: string) =>
  fails(3, `invalid request: invalid ${field}: value length must be at least 1 runes`);

describe("5: pipeds", () => {
  let piped = "";
  const registered = ok({ id: "<uuid>", key: "<50 chars [a-z0-9]>" });
  const notFound = fails(5, "Piped is not found");
  const foreign = fails(7, "Requested piped doesn't belong to your project");

  const register = (title: string, request: { name?: string; desc?: string }, expected: Expected) =>
    row(title, () => api("registerPiped", request, writer()), expected, {
      keep({ id }) {
        piped ||= id;
      },
    });
  register("RegisterPiped", { name: `api-piped${tag}`, desc: "by api" }, registered);
  register("duplicate piped name", { name: `api-piped${tag}` }, registered);
  register("RegisterPiped, empty name", {}, tooShort("RegisterPipedRequest.Name"));
  register("RegisterPiped, name 101", { name: "n".repeat(101) }, fails(13, "Failed to add piped <uuid>"));

  const get = (title: string, pipedId: () => string, expected: Expected) =>
    row(title, () => api("getPiped", { pipedId: pipedId() }, writer()), expected);
  get(
    "GetPiped",
    () => piped,
    ok({
      piped: {
        id: "<uuid>",
        name: "api-piped",
        desc: "by api",
        project_id: "quickstart",
        created_at: "<unix>",
        updated_at: "<unix>",
        keys: [{ hash: "redacted", creator: "op", created_at: "<unix>" }],
      },
    }),
  );
  get("GetPiped, unknown", () => unknownId, notFound);
  get("GetPiped, not a uuid", () => "zzz", notFound);
  get("GetPiped, empty", () => "", tooShort("GetPipedRequest.PipedId"));
  get(
    "GetPiped, other project",
    () => fixtures.otherPiped,
    fails(3, "Requested piped does not belong to your project"),
  );

  const update = (
    title: string,
    request: () => { pipedId: string; name?: string; desc?: string },
    expected: Expected,
  ) => row(title, () => api("updatePiped", request(), writer()), expected);
  update("UpdatePiped", () => ({ pipedId: piped, name: "api-piped-2", desc: "d" }), ok({}));
  update("UpdatePiped, other project", () => ({ pipedId: fixtures.otherPiped, name: "x" }), foreign);
  update("UpdatePiped, unknown", () => ({ pipedId: unknownId, name: "x" }), notFound);
  update("UpdatePiped, no name", () => ({ pipedId: piped }), tooShort("UpdatePipedRequest.Name"));

  const call = (
    method: "disablePiped" | "enablePiped",
    title: string,
    pipedId: () => string,
    expected: Expected,
  ) => row(title, () => api(method, { pipedId: pipedId() }, writer()), expected);
  call("disablePiped", "DisablePiped", () => piped, ok({}));
  call("disablePiped", "disable twice", () => piped, ok({}));
  call("disablePiped", "DisablePiped, other project", () => fixtures.otherPiped, foreign);
  call("disablePiped", "DisablePiped, unknown", () => unknownId, notFound);
  call("enablePiped", "EnablePiped", () => piped, ok({}));
  call("enablePiped", "EnablePiped, other project", () => fixtures.otherPiped, foreign);
});
