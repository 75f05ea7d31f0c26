/** The search over objects, screens, and actions. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { apiVersionOf, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Installation } from "../../functions/ghapp/kinds.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { Minio } from "../../functions/pipecd/kinds.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { grant } from "../harness/rights.ts";

const manager = { fieldManager: "test" };
const since = "2026-01-01T00:00:00Z";

let environment: DashboardEnvironment;
let page: Page;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  await Promise.all([createObjects(), letCarolUseApplications()]);
  page = await environment.loggedIn(people.alice, team);
});
afterAll(() => environment?.stop());

async function put<T extends KubeObject>(
  kind: Kind<T>,
  name: string,
  spec: object,
  status?: object,
): Promise<void> {
  const { client } = environment;
  const key = { namespace: team, name };
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: key, spec };
  await client.create(kind, object as never, manager);
  if (status) await client.mergePatch(kind, key, { status }, { ...manager, subresource: "status" });
}

const application = (name: string, status?: object) =>
  put(Application, name, { domains: [`${name}.example.com`], replicas: 1 }, status);

async function createObjects(): Promise<void> {
  const github = { owner: "acme", repo: "shop", secretName: "acme" };
  const image = { name: "registry.example.com/shop" };
  const previews = [{ number: 7, phase: "Ready", headSHA: "1".repeat(40), headRef: "new-cart", since }];
  const failed = {
    type: "Ready",
    status: "False",
    reason: "RolloutFailed",
    message: "",
    lastTransitionTime: since,
  };
  await Promise.all([
    ...Array.from({ length: 25 }, (_, at) => application(`old-web-${at + 1}`)),
    application("web", { conditions: [failed] }),
    application("cart"),
    put(RemoteSync, "shop-build", { applicationRef: { name: "web" }, base: { github }, image }),
    put(
      AppPipeline,
      "shop-previews",
      { applicationTemplate: {}, base: { github }, domainBase: "example.com", image },
      { open: 1, previews },
    ),
    put(Installation, "shop-token", {
      appRef: { kind: "GitHubApp", name: "app" },
      installationID: 815,
      format: "basic-auth",
      repositories: ["shop"],
      template: {},
    }),
    put(Minio, "shop-files", { storage: { emptyDir: {} }, secret: { secretName: "minio" } }),
    put(Hikawa, "shop-song", { intervalMillis: 1000 }),
  ]);
}

/** Carol may list and create objects of one kind. */
async function letCarolUseApplications(): Promise<void> {
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "test-applications" };
  await grant(environment.client, [
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: roleRef.name },
      rules: [
        {
          apiGroups: [Application.group],
          resources: [Application.plural],
          verbs: ["list", "watch", "create"],
        },
      ],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: roleRef.name, namespace: team },
      roleRef,
      subjects: [{ apiGroup: roleRef.apiGroup, kind: "User", name: people.carol.name }],
    },
  ]);
}

const go = async (path: string, heading: string) => {
  await page.goto(`${environment.url}${path}`);
  await untilScreen(heading);
};
const untilScreen = (heading: string) =>
  page.getByRole("heading", { name: heading, level: 1, exact: true }).waitFor();
const field = (of = page) => of.getByRole("combobox", { name: "Search objects, screens, and actions" });
const group = (name: string, of = page) => of.getByRole("group", { name });
const options = (of = page) => of.getByRole("option").locator(".name").allInnerTexts();
const optionsIn = (name: string) => group(name).getByRole("option").locator(".name").allInnerTexts();
const announced = (of = page) => of.getByRole("dialog").getByRole("status").innerText();
const focusedType = () => page.locator(":focus").getAttribute("type");

/** Opens the search by keyboard and waits for all lists. */
async function open(of = page): Promise<void> {
  await of.keyboard.press("Control+k");
  await field(of).waitFor();
  await expect.poll(() => announced(of)).not.toContain("Loading");
}
async function find(typed: string): Promise<void> {
  await open();
  await page.keyboard.type(typed);
}
/** The option that Enter chooses, for a screen reader. */
async function active(): Promise<string> {
  const id = await field().getAttribute("aria-activedescendant");
  const option = page.locator(`[id="${id}"]`);
  expect(await option.getAttribute("aria-selected")).toBe("true");
  expect(await page.locator('[role="option"][aria-selected="true"]').count()).toBe(1);
  return option.locator(".name").innerText();
}
const press = async (...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
const closed = () => page.locator("dialog").waitFor({ state: "detached" });

test("objects of all kinds are found by name, kind, and health, and Enter shows the best match", async () => {
  await go("/builds", "Builds");
  await find("shop");
  for (const [name, found] of [
    ["RemoteSyncs", "shop-build"],
    ["AppPipelines", "shop-previews"],
    ["Installations", "shop-token"],
    ["PipeCD Minios", "shop-files"],
    ["Hikawas", "shop-song"],
    ["Previews of pull requests", "#7 new-cart"],
  ] as const)
    expect(await optionsIn(name), name).toEqual([found]);
  expect(await announced()).toBe("6 results");
  await expectAccessible(page);
  await field().fill("rollout application");
  expect(await options()).toEqual(["web"]);
  expect(await group("Applications").getByRole("option").innerText()).toMatch(/team-a\s+Rollout failed/);
  // The name itself comes before names that contain it.
  await field().fill("web");
  expect(await active()).toBe("web");
  expect(await optionsIn("Applications")).toHaveLength(20);
  await group("Applications").getByText("6 more, not shown").waitFor();
  expect(await announced()).toBe("26 results");
  await press("Enter");
  await untilScreen("web");
  await closed();
  // A new screen starts at its content.
  await expect.poll(() => page.locator(":focus").getAttribute("id")).toBe("content");
  await find("new-cart");
  await press("Enter");
  await untilScreen("shop-previews");
  await find("no such thing");
  expect(await announced()).toBe("No results");
  expect(await field().getAttribute("aria-expanded")).toBe("false");
  await press("Enter", "Escape");
  await closed();
});

test("arrows, Home, and End move among the results, and the active one is visible", async () => {
  await go("/applications", "Applications");
  await find("old-web");
  expect(await field().getAttribute("aria-expanded")).toBe("true");
  const all = await options();
  expect(all).toHaveLength(20);
  expect(await active()).toBe(all[0]);
  await press("ArrowDown", "ArrowDown");
  expect(await active()).toBe(all[2]);
  await press("ArrowUp");
  expect(await active()).toBe(all[1]);
  await press("End");
  expect(await active()).toBe(all[19]);
  const list = await page.getByRole("listbox", { name: "Results" }).boundingBox();
  const last = await group("Applications").getByRole("option").last().boundingBox();
  const bottom = (box: typeof last) => (box?.y ?? Number.NaN) + (box?.height ?? 0);
  expect(bottom(last)).toBeLessThanOrEqual(bottom(list) + 1);
  await press("ArrowDown");
  expect(await active()).toBe(all[0]);
  await press("ArrowUp", "Home");
  expect(await active()).toBe(all[0]);
  // Other words start at the best match again.
  await press("End", "ArrowUp", "ArrowUp");
  expect(await active()).toBe("old-web-25");
  await page.keyboard.type("-2");
  expect(await active()).toBe("old-web-2");
  await press("Escape");
  await closed();
});

test("Escape, the shortcut, and Close return the focus, and other keys stay with the field that has it", async () => {
  await go("/applications", "Applications");
  await page.getByRole("button", { name: "Search", exact: true }).focus();
  await press("Enter");
  await field().waitFor();
  await press("Escape");
  await closed();
  expect(await page.locator(":focus").innerText()).toContain("Search");
  const words = page.getByRole("searchbox");
  await words.focus();
  await page.keyboard.type("kK");
  expect(await words.inputValue()).toBe("kK");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await open();
  await page.keyboard.type("kK");
  expect(await field().inputValue()).toBe("kK");
  await press("Control+k");
  await closed();
  await expect.poll(focusedType).toBe("search");
  expect(await words.inputValue()).toBe("kK");
  await open();
  await page.getByRole("button", { name: "Close" }).click();
  await closed();
  await expect.poll(focusedType).toBe("search");
  // It does not cover another dialog.
  await go(`/applications/${team}/web`, "web");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete Application web?" }).waitFor();
  await press("Control+k");
  expect(await page.getByRole("dialog").count()).toBe(1);
  await press("Escape");
  await closed();
});

test("the empty search offers visited objects, the tabs of the screen, screens, and actions", async () => {
  await go(`/github/${team}/shop-token`, "shop-token");
  await go(`/applications/${team}/cart/history`, "cart");
  await environment.client.delete(Application, { namespace: team, name: "cart" }, {});
  await go(`/applications/${team}/web`, "web");
  await open();
  // The current one is not offered, and neither is one that no longer exists.
  expect((await optionsIn("Recently visited"))[0]).toBe("shop-token");
  expect(await optionsIn("Recently visited")).not.toContain("cart");
  expect(await optionsIn("Recently visited")).not.toContain("web");
  expect(await optionsIn("This screen")).toEqual(["Overview", "Logs", "History", "Settings", "YAML"]);
  expect(await optionsIn("Screens")).toContain("PipeCD");
  await expectAccessible(page);
  await page.keyboard.type("settings");
  await press("Enter");
  await page.getByLabel("Hosts", { exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/applications/${team}/web/settings`);
  await find("the bus");
  await press("Enter");
  await untilScreen("The bus");
  await find("create installation");
  await press("Enter");
  await untilScreen("Create an Installation");
});

test("actions switch the theme and the namespace, and log out, which forgets visited objects", async () => {
  const own = await environment.loggedIn(people.alice, team);
  // The dashboard knows the namespace from this visit.
  await own.reload();
  await own.getByRole("link", { name: "web", exact: true }).waitFor();
  const theme = () => own.locator("html").getAttribute("data-theme");
  const choose = async (typed: string) => {
    await open(own);
    await own.keyboard.type(typed);
    await own.keyboard.press("Enter");
  };
  await choose("dark theme");
  expect(await theme()).toBe("dark");
  await choose("light theme");
  expect(await theme()).toBe("light");
  await own.getByLabel("Namespace", { exact: true }).fill("elsewhere");
  await own.keyboard.press("Enter");
  await own.getByRole("heading", { name: "You cannot view this in elsewhere" }).waitFor();
  await choose(`switch to ${team}`);
  await own.getByRole("link", { name: "web", exact: true }).waitFor();
  const visited = () => own.evaluate('sessionStorage.getItem("denrei.visited")');
  expect(await visited()).toContain("/applications");
  await choose("log out");
  await own.getByRole("link", { name: "Log in" }).waitFor();
  expect(await visited()).toBeNull();
});

test("kinds that the user may not list are named, and the others are found", async () => {
  const carol = await environment.loggedIn(people.carol, team);
  await open(carol);
  await carol.keyboard.type("web");
  await group("Applications", carol).getByRole("option").first().waitFor();
  const missing = carol.getByText(`Not searched, because you cannot list them in ${team}:`);
  expect(await missing.innerText()).toMatch(
    /: RemoteSyncs, AppPipelines, Installations, all PipeCD kinds, Hikawas\.$/,
  );
  await expectAccessible(carol);
});

test("only what the user may create is offered", async () => {
  const carol = await environment.loggedIn(people.carol, team);
  await open(carol);
  await carol.keyboard.type("create");
  await expect.poll(() => options(carol)).toEqual(["Create an Application"]);
});

test("at 320 px the button is beside the menu, and results fit the screen", async () => {
  onTestFinished(() => page.setViewportSize({ width: 1280, height: 720 }));
  await page.setViewportSize({ width: 320, height: 640 });
  await go("/applications", "Applications");
  const menu = await page.getByRole("button", { name: "Menu" }).boundingBox();
  expect((menu?.x ?? Number.NaN) + (menu?.width ?? 0)).toBeLessThanOrEqual(320);
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await field().waitFor();
  await page.keyboard.type("web");
  await group("Applications").waitFor();
  const outside = await page.evaluate<
    string[]
  >(`[...document.querySelectorAll("dialog, dialog *")].filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return left < 0 || right > innerWidth;
    }).map(({ textContent }) => textContent)`);
  expect(outside).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Close" }).click();
  await closed();
});
