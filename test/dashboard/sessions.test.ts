/** Sessions when tokens expire, and when the issuer is unavailable or ends them. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Application } from "../../functions/paas/kinds.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import type { Replica } from "../harness/environment.ts";
import { openRecords, type Records } from "../harness/sessionrecords.ts";
import { sessionCookieName, type Visitor, visitor } from "../harness/visitor.ts";

let environment: DashboardEnvironment;
let second: Replica & { readonly url: string };
let records: Records;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  second = await environment.secondReplica();
  records = await openRecords(environment);
});
afterAll(async () => {
  await records?.close();
  await environment?.stop();
});

const list = `/api/kubernetes/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${team}/applications`;
const cookieOf = ({ cookies }: Visitor) => cookies.get(sessionCookieName);
const cookieIn = async (page: Page) =>
  (await page.context().cookies()).find(({ name }) => name === sessionCookieName)?.value;
const reasonOf = (answer: { json<T>(): T }) => answer.json<{ reason: string }>().reason;

test("an expired token is refreshed without the user noticing", async () => {
  const page = await environment.loggedIn(people.alice);
  const before = environment.issuer.tally.refreshes;
  await records.age(await cookieIn(page));
  await page.reload();
  await page.getByRole("button", { name: "Log out" }).waitFor();
  const statuses = await page.evaluate(
    async (path) => Promise.all([fetch(path), fetch(path)].map(async (answer) => (await answer).status)),
    list,
  );
  expect(statuses).toEqual([200, 200]);
  expect(environment.issuer.tally.refreshes).toBe(before + 1);
  expect(await page.getByText("Your session has ended").count()).toBe(0);
});

test("one of two replicas refreshes the token, and both continue", async () => {
  const user = await environment.visitor(people.alice);
  for (let round = 0; round < 5; round++) {
    const { refreshToken } = (await records.of(cookieOf(user))).session;
    const before = environment.issuer.tally.refreshes;
    await records.age(cookieOf(user));
    const asked = [environment.url, second.url].flatMap((at) =>
      Array.from({ length: 5 }, () => user.ask(list, { at })),
    );
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 200));
    expect(environment.issuer.tally.refreshes).toBe(before + 1);
    const { session } = await records.of(cookieOf(user));
    expect(session.refreshToken).not.toBe(refreshToken);
    expect(session.lease).toBeUndefined();
  }
});

test("a replica that waits for another's refresh continues with the new token", async () => {
  const user = await environment.visitor(people.alice);
  const before = environment.issuer.tally.refreshes;
  await records.age(cookieOf(user));
  const { requested, release } = environment.issuer.holdTokens();
  const first = user.ask(list);
  await requested;
  expect((await records.of(cookieOf(user))).session.lease).toBeDefined();
  const other = user.ask(list, { at: second.url });
  // It keeps waiting during other requests.
  expect((await user.ask("/api/session", { at: second.url })).status).toBe(200);
  release();
  expect((await first).status).toBe(200);
  expect((await other).status).toBe(200);
  expect(environment.issuer.tally.refreshes).toBe(before + 1);
});

test("a session survives a replica that crashes during a refresh", async () => {
  const user = await environment.visitor(people.alice);
  await records.age(cookieOf(user));
  const { requested, release } = environment.issuer.holdTokens();
  const lost = user.ask(list, { at: second.url }).catch((error: Error) => error);
  await requested;
  await second.kill();
  expect(await lost).toBeInstanceOf(Error);
  release();
  const { lease } = (await records.of(cookieOf(user))).session;
  const left = (lease?.endsAt ?? 0) - Date.now();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(30_000);
  const waiting = user.ask(list);
  await records.change(cookieOf(user), { lease: { holder: lease?.holder ?? "", endsAt: Date.now() } });
  expect((await waiting).status).toBe(200);
  await second.start();
});

test("an unavailable issuer ends no session, and is used again when it is back", async () => {
  const user = await environment.visitor(people.alice);
  await records.age(cookieOf(user));
  const comeBack = await environment.issuer.goDown();
  try {
    const answer = await user.ask(list);
    expect(answer.status).toBe(503);
    expect(answer.json()).toEqual({
      reason: "IssuerUnavailable",
      message: expect.stringMatching(/^The issuer https:\S+ is unavailable\. Sessions stay valid\. [^:]+$/),
    });
    expect((await user.ask("/api/session")).json()).toMatchObject({ user: "alice" });
    expect((await records.of(cookieOf(user))).session.lease).toBeUndefined();
    // One replica has cached the configuration, the other one has not.
    for (const at of [environment.url, second.url]) {
      const { status, headers } = await visitor(environment.url).ask("/auth/login?to=/applications", { at });
      expect([status, headers.get("location")]).toEqual([
        303,
        "/login-failed?why=issuer-unavailable&to=%2Fapplications",
      ]);
    }
  } finally {
    await comeBack();
  }
  for (const at of [environment.url, second.url]) expect((await user.ask(list, { at })).status).toBe(200);
  const { headers } = await visitor(environment.url).ask("/auth/login", { at: second.url });
  expect(headers.get("location")).toContain("code_challenge_method=S256");
});

test("a new signing key of the issuer is accepted", async () => {
  const user = await environment.visitor(people.alice);
  await environment.issuer.rotateKeys();
  await records.age(cookieOf(user));
  expect((await user.ask(list)).status).toBe(200);
  expect((await (await environment.visitor(people.bob)).ask(list)).status).toBe(200);
});

test("a token of another user ends the session, and is revoked", async () => {
  const user = await environment.visitor(people.carol);
  const before = environment.issuer.tally.revocations;
  await records.age(cookieOf(user));
  environment.issuer.impersonate("carol", "alice");
  try {
    const answer = await user.ask(list);
    expect([answer.status, reasonOf(answer)]).toEqual([401, "SessionEnded"]);
  } finally {
    environment.issuer.impersonate("carol", "carol");
  }
  expect(user.cookies.has(sessionCookieName)).toBe(false);
  expect(environment.issuer.tally.revocations).toBe(before + 1);
});

test("a session ends after a day, even if it is in use", async () => {
  const user = await environment.visitor(people.alice);
  const hour = 3_600_000;
  await records.change(cookieOf(user), { startedAt: Date.now() - 24 * hour + 60_000 });
  expect((await user.ask(list)).status).toBe(200);
  await records.change(cookieOf(user), { startedAt: Date.now() - 24 * hour });
  const answer = await user.ask(list);
  expect([answer.status, reasonOf(answer)]).toEqual([401, "LoggedOut"]);
});

test("a session ends when the issuer revokes it, and a new login returns to the same screen", async () => {
  const page = await environment.loggedInByHand(people.bob);
  const address = `${environment.url}/applications?of=bob`;
  await page.goto(address);
  const cookie = await cookieIn(page);
  await environment.issuer.revokeAll();
  await records.age(cookie);
  await page.getByRole("combobox", { name: "Namespace" }).fill(team);
  await page.keyboard.press("Enter");
  await page.getByText("Your session has ended.", { exact: true }).waitFor();
  // An expired session proves nothing about the list.
  await page.getByText("Your session has ended. Log in again to continue.").waitFor();
  expect(await page.getByText("No Applications here yet").count()).toBe(0);
  await expect(records.of(cookie)).rejects.toThrow("no session for the cookie");
  await page.getByRole("link", { name: "Log in again" }).click();
  await page.getByRole("button", { name: "Log out" }).waitFor();
  expect(page.url()).toBe(`${address}&namespace=${team}`);
});

describe("a form whose session ends", () => {
  let page: Page;
  const field = (label: string) => page.getByRole("main").getByLabel(label, { exact: true });
  const back = () => page.getByText("Your unsaved input was restored.");
  beforeAll(async () => {
    page = await environment.loggedInByHand(people.alice, team);
  });

  /** Fills in a valid Application. */
  async function type(name: string): Promise<void> {
    await page.goto(`${environment.url}/applications/new`);
    await field("Name").fill(name);
    await field("Hosts").fill(`${name}.example.com`);
    await field("Image").fill(`${name}:1`);
  }

  /** Ends the session, and tries to submit the form. */
  async function sendTooLate(button: string): Promise<void> {
    await environment.issuer.revokeAll();
    await records.age(await cookieIn(page));
    await page.getByRole("button", { name: button }).click();
    await page.getByText("Your session has ended.", { exact: true }).waitFor();
  }
  const logInAgain = () => page.getByRole("link", { name: "Log in again" }).click();

  test("is restored after the next login, and can be submitted", async () => {
    await type("begun");
    await sendTooLate("Create");
    await logInAgain();
    await back().waitFor();
    expect(await field("Hosts").inputValue()).toBe("begun.example.com");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "begun", level: 1 }).waitFor();
    // It is restored only once.
    await page.goto(`${environment.url}/applications/new`);
    await field("Name").waitFor();
    expect(await field("Name").inputValue()).toBe("");
  });

  test("is restored after a concurrent change, but does not overwrite it", async () => {
    await page.goto(`${environment.url}/applications/${team}/begun/settings`);
    await field("Image").fill("begun:2");
    await sendTooLate("Save");
    const at = { namespace: team, name: "begun" };
    await environment.client.mergePatch(Application, at, { spec: { replicas: 3 } }, { fieldManager: "test" });
    await logInAgain();
    await page.getByText("The object changed since you started editing.").waitFor();
    const typed = async () => [await field("Image").inputValue(), await field("Pods").inputValue()];
    expect(await typed()).toEqual(["begun:2", "1"]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Start over from the current version.").first().waitFor();
    expect((await environment.client.get(Application, at)).spec).toMatchObject({
      image: "begun:1",
      replicas: 3,
    });
    await page.getByRole("button", { name: "Start over from the current version" }).click();
    await expect.poll(typed).toEqual(["begun:1", "3"]);
  });

  test("is not restored for another user", async () => {
    await type("secret");
    await sendTooLate("Create");
    await page.context().clearCookies();
    await logInAgain();
    await page.getByLabel("Name").fill(people.bob.name);
    await page.getByLabel("Password").fill(people.bob.password);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("button", { name: "Log out" }).waitFor();
    await field("Name").waitFor();
    expect(await field("Name").inputValue()).toBe("");
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("secret");
  });

  test("is discarded at logout", async () => {
    await type("left");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await page.getByRole("link", { name: "Log in" }).waitFor();
    expect(page.url()).toBe(`${environment.url}/`);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});
