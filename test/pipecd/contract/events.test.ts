/** Events of PipeCD v0.57.0: written after its source, and tested against a real server. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ListEventsRequest_Status as Listed,
  ListOrder,
} from "../../../deploy/simulators/pipecd/generated/c/pipedservice_pb.ts";
import type { Metadata } from "../../../deploy/simulators/pipecd/metadata.ts";
import { pipecdClient } from "../../../functions/pipecd/api/client.ts";
import { EventStatus } from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import type { PipecdClient } from "../../../functions/pipecd/api/services.ts";
import { openEnvironment } from "./environment.ts";
import { createFixtures, reportPiped } from "./fixtures.ts";
import { type Expected, fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";
import { pipedToken } from "./tokens.ts";

const environment = openEnvironment(() => target("C"));
const { web, api, piped, admin } = environment;
const fixtures = createFixtures(environment);
reportPiped(environment, fixtures);

const name = `image-update${tag}`;
const image = `registry.example.com/web@sha256:${"a".repeat(64)}`;
const labels = { app: "web" };
const agent = (): Metadata => pipedToken(environment.target.project, fixtures.piped, fixtures.pipedKey);
const tooShort = (field: string) =>
  fails(3, `invalid request: invalid RegisterEventRequest.${field}: value length must be at least 1 runes`);
const ids = { first: "", second: "" };

describe("RegisterEvent", () => {
  const register = (
    title: string,
    changes: Record<string, unknown>,
    expected: Expected,
    key = () => fixtures.writer,
  ) => row(title, () => api("registerEvent", { name, data: image, ...changes }, key()), expected);

  register("without labels", { name: `bare${tag}` }, ok({ event_id: "<uuid>" }));
  register("READ_ONLY key", {}, fails(7, "Permission denied"), () => fixtures.reader);
  register("unknown key", {}, fails(16, "Unauthenticated"), () => "nobody.nothing");
  register("empty name", { name: "" }, tooShort("Name"));
  register("empty data", { data: "" }, tooShort("Data"));
  register("label without a key", { labels: { "": "web" } }, tooShort("Labels[]"));
  register("label without a value", { labels: { app: "" } }, tooShort("Labels[app]"));
  register("context without a value", { contexts: { "app-commit": "" } }, tooShort("Contexts[app-commit]"));
  register(
    "context whose key is not a valid trailer",
    { contexts: { app_commit: "1" } },
    fails(
      3,
      'invalid request: invalid RegisterEventRequest.Contexts[app_commit]: value does not match regex pattern "^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$"',
    ),
  );
  register("name of 50 characters", { name: "n".repeat(50 - tag.length) + tag }, ok({ event_id: "<uuid>" }));
  register(
    "name of 51 characters",
    { name: "n".repeat(51 - tag.length) + tag },
    fails(13, "Failed to add event <uuid>"),
  );
});

describe("lists", () => {
  beforeAll(async () => {
    const request = { name, data: image, labels, contexts: { "app-commit": "1" }, commitHash: "c0ffee" };
    ids.first = (await api("registerEvent", request, fixtures.writer)).answer?.eventId ?? "";
    // An identical event: nothing of an event is unique.
    const more = { ...request, labels: { ...labels, env: "dev" } };
    ids.second = (await api("registerEvent", more, fixtures.writer)).answer?.eventId ?? "";
    await api("registerEvent", request, fixtures.otherWriter);
  });

  const event = {
    id: "<uuid>",
    name: "image-update",
    data: image,
    project_id: "quickstart",
    labels,
    event_key: expect.stringMatching(/^[0-9a-f]{64}$/),
    status_description: `It is going to be replaced by ${image}`,
    contexts: { "app-commit": "1" },
    trigger_commit_hash: "c0ffee",
    created_at: "<unix>",
    updated_at: "<unix>",
  };

  const listed = async (options: Record<string, unknown>, more: Record<string, unknown> = {}) => {
    const reply = await web("listEvents", { options: { name, ...options }, ...more });
    return reply.answer?.events.map(({ id }) => id) ?? [];
  };

  row(
    "ListEvents of the project, by name",
    () => web("listEvents", { options: { name, labels: { ...labels, env: "dev" } } }),
    ok({
      events: [{ ...event, labels: { ...labels, env: "dev" } }],
      cursor: expect.any(String),
    }),
  );
  test("lists events that have at least the labels", async () => {
    expect((await listed({ labels })).sort()).toEqual([ids.first, ids.second].sort());
    expect(await listed({ labels: { app: "other" } })).toEqual([]);
  });
  test("returns all events in pages, of which the last may be empty", async () => {
    const found: string[] = [];
    let cursor = "";
    do {
      const { answer } = await web("listEvents", { options: { name }, pageSize: 1, cursor });
      found.push(...(answer?.events.map(({ id }) => id) ?? []));
      cursor = answer?.cursor ?? "";
    } while (cursor !== "");
    expect(found.sort()).toEqual([ids.first, ids.second].sort());
  });
  test("omits events updated before the minimum time", async () => {
    const later = BigInt(Math.trunc(Date.now() / 1000) + 3600);
    expect(await listed({}, { pageMinUpdatedAt: later })).toEqual([]);
  });
  row(
    "a client without credentials cannot list events",
    () => web("listEvents", { options: { name } }, []),
    fails(16, "Unauthenticated"),
  );

  test("pipeds find the newest event by name and exact labels", async () => {
    const latest = async (eventLabels: Record<string, string>) =>
      (await piped("getLatestEvent", { name, labels: eventLabels }, agent())).answer?.event?.id;
    expect(await latest(labels)).toBe(ids.first);
    expect(await latest({ env: "dev", app: "web" })).toBe(ids.second);
    expect((await piped("getLatestEvent", { name }, agent())).code).toBe(5);
  });

  test("pipeds report event statuses, and the times of outdated events stay", async () => {
    const statuses = {
      events: [{ id: ids.first, status: EventStatus.EVENT_SUCCESS, statusDescription: "done" }],
    };
    expect((await piped("reportEventStatuses", statuses, agent())).code).toBe(0);
    const outdated = { id: ids.second, status: EventStatus.EVENT_OUTDATED, statusDescription: "late" };
    expect((await piped("reportEventStatuses", { events: [outdated] }, agent())).code).toBe(0);
    const { answer } = await web("listEvents", { options: { name } });
    const found = new Map(answer?.events.map((one) => [one.id, one]));
    expect(found.get(ids.first)).toMatchObject({
      status: EventStatus.EVENT_SUCCESS,
      statusDescription: "done",
    });
    expect(found.get(ids.first)?.handledAt).toBeGreaterThan(0n);
    expect(found.get(ids.second)).toMatchObject({ status: EventStatus.EVENT_OUTDATED, handledAt: 0n });
    const request = { order: ListOrder.DESC, status: Listed.NOT_HANDLED };
    const unhandled = (await piped("listEvents", request, agent())).answer?.events.map(({ id }) => id);
    expect(unhandled).not.toContain(ids.first);
    expect(unhandled).not.toContain(ids.second);
    expect(await listed({ statuses: [EventStatus.EVENT_OUTDATED] })).toEqual([ids.second]);
  });
});

describe("the client", () => {
  let client: PipecdClient;
  let stopping: AbortController;
  beforeAll(() => {
    stopping = new AbortController();
    client = pipecdClient({
      profile: "C",
      projectID: environment.target.project,
      web: { address: environment.target.addresses.web, tls: undefined },
      api: { address: environment.target.addresses.api, tls: undefined },
      encryptionKey: environment.target.encryptionKey,
      apiKey: fixtures.writer,
      signal: stopping.signal,
    });
  });
  afterAll(() => stopping.abort());

  test("lists all pages of events with exact labels from the minimum time, newest first", async () => {
    const key = { name: `pages${tag}`, labels };
    const register = (data: string, eventLabels: Record<string, string>) =>
      client.events?.register?.({ ...key, labels: eventLabels, data, contexts: {}, commitHash: "" });
    const registered: (string | undefined)[] = [];
    // A real server hashes the API key in each call, which takes 60 ms of CPU time: a hundred concurrent calls time out.
    // The client requests pages of 100 events.
    for (let number = 0; number < 51; number++) {
      const [id] = await Promise.all([
        register(`${number}`, labels),
        // An event with another key.
        register(`${number}`, { ...labels, env: "dev" }),
      ]);
      registered.push(id);
    }
    const found = (await client.events?.list(key, 0)) ?? [];
    expect(found.map(({ id }) => id).sort()).toEqual(registered.sort());
    expect(found.map(({ createdAt }) => createdAt)).toEqual(
      found.map(({ createdAt }) => createdAt).toSorted((a, b) => b - a),
    );
    expect(found[0]).toMatchObject({ state: "NotHandled", labels });
    expect(await client.events?.list(key, Date.now() / 1000 + 3600)).toEqual([]);
  }, 120_000);

  test("cannot register an event without an API key", () => {
    const { events } = pipecdClient({
      profile: "C",
      projectID: environment.target.project,
      web: { address: environment.target.addresses.web, tls: undefined },
      api: { address: environment.target.addresses.api, tls: undefined },
      encryptionKey: environment.target.encryptionKey,
      apiKey: undefined,
      signal: stopping.signal,
    });
    expect(events).toBeDefined();
    expect(events?.register).toBeUndefined();
  });
});

test("allows viewers to list events", async () => {
  const viewer = admin({ role: "Viewer" });
  expect((await web("listEvents", { options: { name } }, viewer)).code).toBe(0);
});
