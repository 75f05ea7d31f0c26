/** Session records on a real bus: encryption, concurrent writes, and expiry. */
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

test("a record reveals neither the user nor the session's ID", async () => {
  const stored = await record(open);
  const text = `${stored?.subject} ${stored?.string()}`;
  for (const secret of [open.id, "alice", "an ID token", "a refresh token", open.session.csrf])
    expect(text).not.toContain(secret);
  // A leading "_" of a digest is escaped.
  expect(stored?.subject).toMatch(/^sessions\.(=5F|[^\W_]|-)[\w-]{42}$/);
});

test("a record cannot be read with the key alone or the ID alone", async () => {
  expect(await openSessions(local.bus, () => [newKey("a")]).find(open.id)).toBeUndefined();
  expect(await openSessions(local.bus, () => [newKey("b")]).find(open.id)).toBeUndefined();
  expect(await sessions.find(randomBytes(32).toString("base64url"))).toBeUndefined();
  // A record copied to another session's subject.
  const stored = await record(open);
  const other = await sessions.begin({ user: "bob", idToken: "", expiresAt: 0 });
  const place = (await record((await sessions.find(other)) as OpenSession))?.subject ?? "";
  await local.bus.js.publish(place, stored?.data);
  expect(await sessions.find(other)).toBeUndefined();
});

test("of two concurrent updates one succeeds", async () => {
  const written = await Promise.all(
    ["b", "c"].map((csrf) => sessions.update(open, { ...open.session, csrf })),
  );
  expect(written.filter((outcome) => outcome === "overtaken")).toHaveLength(1);
  const [kept] = written.filter((outcome) => outcome !== "overtaken");
  const found = await sessions.find(open.id);
  expect([found?.session, found?.sequence]).toEqual([kept?.session, kept?.sequence]);
});

test("an ended session cannot be written, and ends only once", async () => {
  const late = await sessions.update(open, { ...open.session, csrf: "late" });
  // By a replica that read it before it ended.
  expect(await sessions.end(open.id)).toMatchObject({ csrf: "late" });
  expect(await sessions.find(open.id)).toBeUndefined();
  expect(await sessions.update(late as OpenSession, open.session)).toBe("overtaken");
  expect(await sessions.end(open.id)).toBeUndefined();
  expect(await sessions.find(open.id)).toBeUndefined();
});

test("a session in use is renewed before it is idle, but not at each use", async () => {
  await sessions.touch(open);
  expect((await sessions.find(open.id))?.sequence).toBe(open.sequence);
  await sessions.touch({ ...open, writtenAt: Date.now() - 2 * hour });
  const found = await sessions.find(open.id);
  expect(found?.sequence).toBeGreaterThan(open.sequence);
  expect(found?.session).toEqual(open.session);
});

test("a record expires after twelve idle hours, or at the session's maximum age", async () => {
  const ttl = async (of: OpenSession) =>
    Number.parseInt((await record(of))?.header.get("Nats-TTL") ?? "", 10);
  expect(await ttl(open)).toBe(12 * 3600);
  const startedAt = Date.now() - 23 * hour;
  const old = (await sessions.update(open, { ...open.session, startedAt })) as OpenSession;
  expect(await ttl(old)).toBeGreaterThan(3590);
  expect(await ttl(old)).toBeLessThanOrEqual(3600);
});

test("a record that an older key encrypted is encrypted with the first key when it is written", async () => {
  const newest = newKey("b");
  const both = openSessions(local.bus, () => [newest, key]);
  const found = (await both.find(open.id)) as OpenSession;
  expect(found.session).toEqual(open.session);
  await both.update(found, found.session);
  expect(await sessions.find(open.id)).toBeUndefined();
  expect((await openSessions(local.bus, () => [newest]).find(open.id))?.session).toEqual(open.session);
});

test("a record with an unknown schema is ignored", async () => {
  const { lease: _, ...session } = open.session;
  const foreign = { ...session, expiresAt: "tomorrow" } as unknown as OpenSession["session"];
  await sessions.update(open, foreign);
  expect(await sessions.find(open.id)).toBeUndefined();
});
