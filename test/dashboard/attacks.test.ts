/** Attacks on logged-in users by a foreign site, a link, or a planted cookie. All of them must fail. */
import fc from "fast-check";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { toCallback } from "../../deploy/cli/demo/visitor.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { metricSum } from "../harness/metrics.ts";
import { type OtherSite, startOtherSite } from "../harness/othersite.ts";
import { logIn, loginCookieName, sessionCookieName, type Visitor, visitor } from "../harness/visitor.ts";

let environment: DashboardEnvironment;
let site: OtherSite;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  // The body of a form of type text/plain begins like JSON.
  const field = JSON.stringify(application("planted")).slice(0, -1);
  site = await startOtherSite({
    "/": `<!doctype html><form method="post" enctype="text/plain" action="${environment.url}${list}">
      <input name='${field},"a":"' value='"}'><button>Win a prize</button></form>`,
    "/frame": `<!doctype html><iframe src="${environment.url}"></iframe>`,
  });
});
afterAll(async () => {
  await site?.stop();
  await environment?.stop();
});

const list = `/api/kubernetes/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${team}/applications`;
const application = (name: string) => ({
  apiVersion: apiVersionOf(Application),
  kind: "Application",
  metadata: { name, namespace: team },
  spec: { domains: [`${name}.example.com`], replicas: 1 },
});
const reasonOf = (answer: { json<T>(): T }) => answer.json<{ reason: string }>().reason;
const cookieOf = ({ cookies }: Visitor) => cookies.get(sessionCookieName);

describe("another site", () => {
  // The browser does send the cookie to a site that differs only in its port.
  test.each(["127.0.0.1", "localhost"] as const)(
    "at %s can neither read nor change anything",
    async (host) => {
      const page = await pageWithCookie(await environment.visitor(people.alice));
      await page.goto(site.at(host));
      const answered = (codes: string) =>
        metricSum(
          [environment.dashboard],
          new RegExp(`^denrei_dashboard_requests_total{route="/api/.*code="${codes}"}`),
        );
      const [refused, given] = [await answered("40[13]"), await answered("[25]..")];
      const outcomes = await page.evaluate(
        async ({ url, path, body }) => {
          const ask = (to: string, init: RequestInit) =>
            fetch(`${url}${to}`, { credentials: "include", ...init }).then(
              (answer) => answer.type,
              (error: Error) => error.name,
            );
          return [
            await ask("/api/session", {}),
            await ask("/api/session", { mode: "no-cors" }),
            await ask(path, { method: "POST", mode: "no-cors", body }),
            await ask(path, { method: "POST", headers: { "content-type": "application/json" }, body }),
            await ask("/api/session", { method: "DELETE" }),
          ];
        },
        { url: environment.url, path: list, body: JSON.stringify(application("planted")) },
      );
      // The page cannot read any response, because no CORS header allows it.
      expect(outcomes.filter((outcome) => !["TypeError", "opaque"].includes(outcome))).toEqual([]);
      await page.getByRole("button").click();
      await page.waitForURL(`${environment.url}${list}`);
      expect(await page.textContent("body")).toContain("CrossSite");
      // Requests with special methods or headers need a preflight, which fails.
      expect((await answered("40[13]")) - refused).toBe(6);
      expect(await answered("[25]..")).toBe(given);
      expect(await environment.list(Application, team)).toEqual([]);
      await page.goto(environment.url);
      await page.getByRole("button", { name: "Log out" }).waitFor();
      await page.context().close();
    },
  );

  test("cannot show the page in a frame", async () => {
    const page = await pageWithCookie(await environment.visitor(people.alice));
    const refused = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"));
    await page.goto(site.at("127.0.0.1", "/frame"));
    await refused;
    await page.context().close();
  });
});

/** A page of a browser that has the cookie, with nothing of the dashboard open. */
async function pageWithCookie(client: Visitor): Promise<Page> {
  const context = await (await environment.browser()).newContext();
  const cookie = { name: sessionCookieName, value: cookieOf(client) ?? "", url: environment.url };
  await context.addCookies([{ ...cookie, httpOnly: true, sameSite: "Lax" }]);
  return context.newPage();
}

test.each<[string, Record<string, string>, string]>([
  ["of another origin", { origin: "https://evil.example" }, "CrossSite"],
  ["of no origin", { origin: "null" }, "CrossSite"],
  ["of another scheme", { origin: "https://127.0.0.1" }, "CrossSite"],
  ["of another site", { "sec-fetch-site": "cross-site" }, "CrossSite"],
  ["of another host of the site", { "sec-fetch-site": "same-site" }, "CrossSite"],
  ["without a CSRF token", { "x-denrei-csrf": "" }, "NoCsrfToken"],
  ["with another CSRF token", { "x-denrei-csrf": "a".repeat(24) }, "NoCsrfToken"],
])("rejects a request %s", async (_, headers, reason) => {
  const client = await environment.visitor(people.alice);
  for (const [path, method, body] of [
    [list, "POST", application("forged")],
    ["/api/session", "DELETE", undefined],
  ] as const) {
    const answer = await client.ask(path, { method, body, headers });
    expect([answer.status, reasonOf(answer)]).toEqual([403, reason]);
  }
  expect((await client.ask("/api/session")).status).toBe(200);
  expect(await environment.list(Application, team)).toEqual([]);
});

test("a CSRF token is valid only for its own session", async () => {
  const [alice, bob] = [await environment.visitor(people.alice), await environment.visitor(people.bob)];
  const { csrf } = (await bob.ask("/api/session")).json<{ csrf: string }>();
  const answer = await alice.ask("/api/session", { method: "DELETE", headers: { "x-denrei-csrf": csrf } });
  expect([answer.status, reasonOf(answer)]).toEqual([403, "NoCsrfToken"]);
});

test("a login always ends on a page of the dashboard", async () => {
  for (const to of ["//evil.example", "/\\evil.example", "https://evil.example", "/%09/evil.example/..//x"]) {
    const client = visitor(environment.url);
    const login = `/auth/login?${new URLSearchParams({ to })}`;
    const callback = await toCallback(client, people.bob, { login });
    const location = new URL(
      String((await client.ask(callback)).headers.get("location")),
      `${environment.url}/auth/callback`,
    );
    expect(location.origin).toBe(environment.url);
  }
});

test("a modified cookie is rejected", async () => {
  const client = await environment.visitor(people.bob);
  const cookie = cookieOf(client) ?? "";
  const ask = (value: string) =>
    visitor(environment.url).ask("/api/session", { headers: { cookie: `${sessionCookieName}=${value}` } });
  expect((await ask(cookie)).status).toBe(200);
  const letters = fc.constantFrom(..."AZaz09-_.~%+/é");
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: cookie.length - 1 }), letters, async (at, letter) => {
      fc.pre(cookie[at] !== letter);
      const changed = cookie.slice(0, at) + letter + cookie.slice(at + 1);
      expect((await ask(encodeURIComponent(changed))).status).toBe(401);
    }),
    // The sealer's unit test tries thousands of changes.
    { numRuns: 10 },
  );
  for (const value of ["", "%E0%A4%A", ".", "....", `${cookie}.`, cookie.repeat(20)])
    expect((await ask(value)).status).toBe(401);
});

test("a login cookie is not accepted as a session cookie", async () => {
  const client = visitor(environment.url);
  await client.ask("/auth/login");
  const login = client.cookies.get(loginCookieName);
  const answer = await client.ask("/api/session", { headers: { cookie: `${sessionCookieName}=${login}` } });
  expect([answer.status, reasonOf(answer)]).toEqual([401, "LoggedOut"]);
});

test("a planted session ends when the user logs in", async () => {
  const attacker = await environment.visitor(people.bob);
  const planted = cookieOf(attacker) ?? "";
  const victim = visitor(environment.url);
  victim.cookies.set(sessionCookieName, planted);
  const callback = await toCallback(victim, people.alice);
  expect((await victim.ask(callback)).headers.get("location")).toBe("/");
  expect(cookieOf(victim)).not.toBe(planted);
  expect((await victim.ask("/api/session")).json()).toMatchObject({ user: "alice" });
  expect((await attacker.ask("/api/session")).status).toBe(401);
});

test("a login cannot be finished in a browser that did not start it", async () => {
  const attacker = visitor(environment.url);
  const callback = await toCallback(attacker, people.bob);
  const failed = "/login-failed?why=interrupted&to=%2F";
  // One browser has started no login, the other one a different login.
  for (const begin of [[], ["/auth/login"]]) {
    const victim = visitor(environment.url);
    for (const path of begin) await victim.ask(path);
    const { status, headers } = await victim.ask(callback);
    expect([status, headers.get("location")]).toEqual([303, failed]);
    expect(victim.cookies).toEqual(new Map());
  }
});

test("a login can be finished only once", async () => {
  const client = visitor(environment.url);
  const callback = await toCallback(client, people.bob);
  const begun = client.cookies.get(loginCookieName) ?? "";
  await client.ask(callback);
  expect(client.cookies.has(loginCookieName)).toBe(false);
  expect((await client.ask(callback)).headers.get("location")).toBe("/login-failed?why=interrupted&to=%2F");
  const replayed = visitor(environment.url);
  replayed.cookies.set(loginCookieName, begun);
  expect((await replayed.ask(callback)).headers.get("location")).toBe("/login-failed?why=refused&to=%2F");
  expect(replayed.cookies).toEqual(new Map());
});

test("a failed login leads to a page of the dashboard that shows no text of the issuer", async () => {
  const context = await (await environment.browser()).newContext();
  try {
    const page = await context.newPage();
    const login = await page.goto(`${environment.url}/auth/login?to=/applications`);
    expect(login?.status()).toBe(200);
    const first = login?.request().redirectedFrom()?.redirectedFrom()?.redirectedTo()?.url() ?? page.url();
    const state = new URL(first).searchParams.get("state") ?? "";
    expect(state).not.toBe("");
    const said = new URLSearchParams({
      error: "access_denied",
      error_description: "<b>call 0900-EVIL</b>",
      state,
      iss: environment.issuer.url,
    });
    await page.goto(`${environment.url}/auth/callback?${said}`);
    await page.getByRole("alert").getByText("the identity provider denied it").waitFor();
    expect(page.url()).toBe(`${environment.url}/login-failed?why=denied&to=%2Fapplications`);
    expect(await page.content()).not.toContain("0900");
    expect(await page.getByRole("link", { name: "Log in" }).getAttribute("href")).toBe(
      "/auth/login?to=%2Fapplications",
    );
  } finally {
    await context.close();
  }
});

test("rejects requests for a foreign host name", async () => {
  const client = await logIn(environment.url, people.alice);
  for (const path of ["/", "/auth/login", "/api/session", list]) {
    const host = `evil.example:${new URL(environment.url).port}`;
    const answer = await client.ask(path, { headers: { host } });
    expect(answer.status).toBe(421);
    expect(answer.text).toBe(
      `wrong host: this dashboard is served at ${new URL(environment.url).host}. Open ${environment.url}\n`,
    );
    expect(answer.headers.getSetCookie()).toEqual([]);
  }
  const forwarded = await visitor(environment.url).ask("/auth/login", {
    headers: { "x-forwarded-host": "evil.example", forwarded: "host=evil.example" },
  });
  expect(decodeURIComponent(String(forwarded.headers.get("location")))).toContain(
    `redirect_uri=${environment.url}/`,
  );
});
