/** Records of sessions on a real bus: who may read, replace and end them, and for how long they are there. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { streams } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import type { Key } from "../../dashboard/server/auth/keys.ts";
import { type OpenSession, openSessions, type Sessions } from "../../dashboard/server/auth/sessions.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const newKey = (id: string): Key => ({ id, secret: new Uint8Array(randomBytes(32)) });
const key = newKey("a");
const hour = 3_600_000;

let local: LocalBus;
let sessions: Sessions;
let open: OpenSession;
beforeAll(async () => {
  local = await startLocalBus();
  await ensureTopology(local.bus, { replicas: 1, ackWaitMillis: 30_000 });
  sessions = openSessions(local.bus, () => [key]);
});
afterAll(() => local?.stop());
beforeEach(async () => {
  const id = await sessions.begin({
    user: "alice",
    idToken: "an ID token",
    refreshToken: "a refresh token",
    expiresAt: Date.now() + hour,
  });
  open = (await sessions.find(id)) as OpenSession;
});

const record = ({ sequence }: OpenSession) =>
  local.bus.jsm.streams.getMessage(streams.sessions, { seq: sequence });

test("what lies on the bus says neither who it is nor what names it for a browser", async () => {
  const stored = await record(open);
  const text = `${stored?.subject} ${stored?.string()}`;
  for (const secret of [open.id, "alice", "an ID token", "a refresh token", open.session.csrf])
    expect(text).not.toContain(secret);
  // A digest that begins with "_" has that escaped.
  expect(stored?.subject).toMatch(/^sessions\.(=5F|[^\W_]|-)[\w-]{42}$/);
});

test("who has the key alone, or the name alone, reads nothing", async () => {
  expect(await openSessions(local.bus, () => [newKey("a")]).find(open.id)).toBeUndefined();
  expect(await openSessions(local.bus, () => [newKey("b")]).find(open.id)).toBeUndefined();
  expect(await sessions.find(randomBytes(32).toString("base64url"))).toBeUndefined();
  // A record put in the place of another one's.
  const stored = await record(open);
  const other = await sessions.begin({ user: "bob", idToken: "", expiresAt: 0 });
  const place = (await record((await sessions.find(other)) as OpenSession))?.subject ?? "";
  await local.bus.js.publish(place, stored?.data);
  expect(await sessions.find(other)).toBeUndefined();
});

test("of two who replace the same record one does", async () => {
  const written = await Promise.all(
    ["b", "c"].map((csrf) => sessions.update(open, { ...open.session, csrf })),
  );
  expect(written.filter((outcome) => outcome === "overtaken")).toHaveLength(1);
  const [kept] = written.filter((outcome) => outcome !== "overtaken");
  const found = await sessions.find(open.id);
  expect([found?.session, found?.sequence]).toEqual([kept?.session, kept?.sequence]);
});

test("what has ended is not written again, and ends once", async () => {
  const late = await sessions.update(open, { ...open.session, csrf: "late" });
  // By whoever has read it before it was replaced.
  expect(await sessions.end(open.id)).toMatchObject({ csrf: "late" });
  expect(await sessions.find(open.id)).toBeUndefined();
  expect(await sessions.update(late as OpenSession, open.session)).toBe("overtaken");
  expect(await sessions.end(open.id)).toBeUndefined();
  expect(await sessions.find(open.id)).toBeUndefined();
});

test("a session that is used is written again before it would be idle, and not each time", async () => {
  await sessions.touch(open);
  expect((await sessions.find(open.id))?.sequence).toBe(open.sequence);
  await sessions.touch({ ...open, writtenAt: Date.now() - 2 * hour });
  const found = await sessions.find(open.id);
  expect(found?.sequence).toBeGreaterThan(open.sequence);
  expect(found?.session).toEqual(open.session);
});

test("a record goes after twelve hours in which nothing happens, and with its session's last", async () => {
  const ttl = async (of: OpenSession) =>
    Number.parseInt((await record(of))?.header.get("Nats-TTL") ?? "", 10);
  expect(await ttl(open)).toBe(12 * 3600);
  const startedAt = Date.now() - 23 * hour;
  const old = (await sessions.update(open, { ...open.session, startedAt })) as OpenSession;
  expect(await ttl(old)).toBeGreaterThan(3590);
  expect(await ttl(old)).toBeLessThanOrEqual(3600);
});

test("what an older key has sealed is sealed with the first one when it is written", async () => {
  const young = newKey("b");
  const both = openSessions(local.bus, () => [young, key]);
  const found = (await both.find(open.id)) as OpenSession;
  expect(found.session).toEqual(open.session);
  await both.update(found, found.session);
  expect(await sessions.find(open.id)).toBeUndefined();
  expect((await openSessions(local.bus, () => [young]).find(open.id))?.session).toEqual(open.session);
});

test("a record that is none of this version's is none", async () => {
  const { lease: _, ...session } = open.session;
  const foreign = { ...session, expiresAt: "tomorrow" } as unknown as OpenSession["session"];
  await sessions.update(open, foreign);
  expect(await sessions.find(open.id)).toBeUndefined();
});
