/** Forms refuse invalid values next to the field, list all problems, and split pasted variables. Names of Secrets are suggested. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConfigMap, Secret } from "../../bus/kube/kind.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { fillIn } from "../harness/buildform.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";

const hidden = "the value of the Secret";

let environment: DashboardEnvironment;
let page: Page;
/** Addresses of the changes that the page has sent. */
const sent: string[] = [];
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  const stringData = { password: hidden };
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ stringData }) };
  const manager = { fieldManager: "test" };
  const { client } = environment;
  await client.create(
    Secret,
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: team, name: "tokens", annotations },
      data: { password: btoa(hidden) },
    },
    manager,
  );
  await client.create(
    ConfigMap,
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: team, name: "settings" },
      data: { a: "b" },
    },
    manager,
  );
});
afterAll(() => environment?.stop());

const field = (label: string): Locator => page.getByRole("main").getByLabel(label, { exact: true });
const group = (label: string): Locator => page.getByRole("group", { name: label, exact: true });
const summary = (): Locator => page.getByRole("region", { name: /^\d+ problems? to fix$/ });
const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
const isFocused = (of: Locator) =>
  expect.poll(() => of.evaluate((element) => element.matches(":focus"))).toBe(true);

/** Opens a form, in a session without unsaved input. */
async function open(path: string, heading: string): Promise<void> {
  page = await environment.loggedIn(people.alice, team);
  page.on("request", (request) => request.method() !== "GET" && sent.push(request.url()));
  await page.goto(environment.url + path);
  await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
  sent.length = 0;
}
const newApplication = () => open("/applications/new", "Create an Application");

async function addVariable(within: Locator, at: number, name: string, value = ""): Promise<void> {
  await within.getByRole("button", { name: "Add a variable" }).click();
  await isFocused(within.getByLabel(`Name of variable ${at}`));
  await within.getByLabel(`Name of variable ${at}`).fill(name);
  await within.getByLabel(`Value of variable ${at}`).fill(value);
}

/** Copies a text from another field, and pastes it. */
async function paste(into: Locator, text: string): Promise<void> {
  await field("Hosts").fill(text);
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("ControlOrMeta+C");
  await into.focus();
  await page.keyboard.press("ControlOrMeta+V");
}

/** The names and values of a list of variables. */
async function variables(within: Locator): Promise<string[][]> {
  const rows = await within.locator(".variable").all();
  const fields = (row: Locator) => row.locator("input, textarea").all();
  return Promise.all(
    rows.map(async (row) => Promise.all((await fields(row)).map((one) => one.inputValue()))),
  );
}

test("an Application's invalid image, variables, and amounts are refused in place, and listed once", async () => {
  await newApplication();
  const env = group("Environment variables");
  await field("Name").fill("web");
  await field("Hosts").fill("web.example.com");
  await field("Image").fill("UPPER/Case:tag");
  // An empty row is not sent, and moves no problem to another row.
  await addVariable(env, 1, "");
  await addVariable(env, 2, "1 A=B", "x");
  await addVariable(env, 3, "SAME", "x");
  await addVariable(env, 4, "SAME", "y");
  await addVariable(env, 5, "PORT", "80");
  await addVariable(env, 6, "", "no name");
  await addVariable(env, 7, "TOKEN");
  await field("Source of variable 7").selectOption("Key of a Secret");
  await field("Secret of variable 7").fill("My Secret");
  await press("Add a source");
  await field("Name of source 1").fill("My Secret");
  await page.getByText("More: command").click();
  await group("Resource limits").getByRole("button", { name: "Add" }).click();
  await field("Name 1 of Resource limits").fill("memory");
  await field("Value 1 of Resource limits").fill("-1");
  await press("Create");
  await isFocused(field("Image"));
  expect(sent).toEqual([]);
  expect(await summary().getByRole("listitem").allInnerTexts()).toEqual([
    expect.stringMatching(/^Image: Enter an image such as registry/),
    expect.stringMatching(/^Name of variable 2: Use letters, .* but no equals sign\.$/),
    "Name of variable 4: Another variable is named SAME. Rename or remove one of them.",
    "Name of variable 5: PORT is set automatically. Change the field port instead.",
    "Name of variable 6: Enter a name.",
    expect.stringMatching(/^Secret of variable 7: Use lowercase letters/),
    "Key of variable 7: Enter a value.",
    expect.stringMatching(/^Name of source 1: Use lowercase letters/),
    expect.stringMatching(/^Value 1 of Resource limits: Enter an amount of 0 or more/),
  ]);
  await env
    .locator(".variable", { hasText: "Another variable is named SAME." })
    .getByLabel("Name of variable 4")
    .waitFor();
  await expectAccessible(page);

  await summary().getByRole("button", { name: "Name of variable 4" }).click();
  await isFocused(field("Name of variable 4"));
  await page.keyboard.press("End");
  await page.keyboard.type("2");
  expect(await field("Name of variable 4").getAttribute("aria-invalid")).toBe("false");
  expect(await summary().getByRole("listitem").count()).toBe(8);
  await env.getByRole("button", { name: "Remove variable 7" }).click();
  await env.getByRole("button", { name: "Remove variable 6" }).click();
  await isFocused(env.getByRole("button", { name: "Add a variable" }));
  await env.getByRole("button", { name: "Remove variable 5" }).click();
  await field("Name of variable 2").fill("1 A");
  await field("Name of source 1").fill("my-secret");
  await field("Value 1 of Resource limits").fill("1Gi");
  // One problem is next to its field only.
  await expect.poll(() => summary().count()).toBe(0);
  await field("Image").fill("nginx:bad tag");
  await press("Create");
  await isFocused(field("Image"));
  await field("Image").fill("registry.example.com/web:1");
  await press("Create");
  await page.getByRole("heading", { name: "web", level: 1 }).waitFor();
  const { spec } = await environment.client.get(Application, { namespace: team, name: "web" });
  expect(spec).toMatchObject({
    image: "registry.example.com/web:1",
    env: [
      { name: "1 A", value: "x" },
      { name: "SAME", value: "x" },
      { name: "SAME2", value: "y" },
    ],
    envFrom: [{ secretRef: { name: "my-secret" } }],
  });
});

test("an invalid name and host are reported next to their fields, and the first one gets the focus", async () => {
  await newApplication();
  const name = field("Name");
  await name.fill("Not A Name");
  await field("Hosts").fill("web.example.com\nNOT A HOST");
  await press("Create");
  await expect.poll(() => name.getAttribute("aria-invalid")).toBe("true");
  await isFocused(name);
  await page.locator(".field").getByText("Enter a host name in lowercase").waitFor();
  expect(sent).toEqual([]);
  await name.fill("a-name");
  await expect.poll(() => name.getAttribute("aria-invalid")).toBe("false");
  await expectAccessible(page);
});

test("the forms of builds and previews refuse the same", async () => {
  for (const [path, heading] of [
    ["/builds/new", "Build a repository"],
    ["/previews/new", "Preview a repository"],
  ] as const) {
    await open(path, heading);
    const isPreview = path === "/previews/new";
    if (!isPreview) await fillIn(page, "web");
    else {
      await field("Preview domain").fill("Preview.example.com");
      await addVariable(group("Preview environment variables"), 1, "PORT");
      await page.getByText("More: port, pods").click();
    }
    await field("Image repository").fill("registry.example.com/Team/web:1");
    const build = group("Build environment variables");
    await addVariable(build, 1, "A");
    await addVariable(build, 2, "A");
    await addVariable(build, 3, "a/b");
    await press("Create");
    const problems = await summary().getByRole("listitem").allInnerTexts();
    expect(problems).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Image repository: Enter a repository in lowercase/),
        expect.stringMatching(/^Name of variable 2: Another variable is named A\./),
        expect.stringMatching(/^Name of variable 3: .* no slash/),
        ...(isPreview
          ? [
              expect.stringMatching(/^Preview domain: Enter a domain name in lowercase/),
              expect.stringMatching(/^Name of variable 1: PORT is set automatically/),
            ]
          : []),
      ]),
    );
    expect(sent).toEqual([]);
    await expectAccessible(page);
  }
});

test("pasted lines of a .env file become variables", async () => {
  await newApplication();
  const env = group("Environment variables");
  await addVariable(env, 1, "KEPT", "1");
  await addVariable(env, 2, "");
  await paste(field("Name of variable 2"), "# database\nexport URL='postgres://a=b' # c\nKEPT=2\n");
  expect(await variables(env)).toEqual([
    ["KEPT", "2"],
    ["URL", "postgres://a=b"],
  ]);
  await page.getByText("Added 1 variable. Replaced 1 value.").waitFor();
  await paste(field("Value of variable 2"), "?c=d");
  expect(await variables(env), "one line is a value").toEqual([
    ["KEPT", "2"],
    ["URL", "postgres://a=b?c=d"],
  ]);

  await press("Paste .env");
  const dialog = page.getByRole("dialog", { name: "Paste variables" });
  const lines = dialog.getByLabel("Lines of a .env file");
  await isFocused(lines);
  await lines.fill('A=1\nnonsense\nKEY="two\nlines"');
  await dialog.getByRole("button", { name: "Add variables" }).click();
  await dialog.getByText("Line 2: enter NAME=value.").waitFor();
  await expectAccessible(page);
  await lines.fill('A=1\nKEY="two\nlines"');
  await dialog.getByRole("button", { name: "Add variables" }).click();
  await dialog.waitFor({ state: "detached" });
  await isFocused(page.getByRole("button", { name: "Paste .env" }));
  expect(await variables(env)).toEqual([
    ["KEPT", "2"],
    ["URL", "postgres://a=b?c=d"],
    ["A", "1"],
    ["KEY", "two\nlines"],
  ]);
  await addVariable(env, 5, "PEM");
  await paste(field("Value of variable 5"), "-----BEGIN\nabc=\n-----END\n");
  await isFocused(field("Value of variable 5"));
  expect((await variables(env)).at(-1)).toEqual(["PEM", "-----BEGIN\nabc=\n-----END"]);
  await expectAccessible(page);
});

test("names of Secrets and ConfigMaps are suggested, and never their contents", async () => {
  await newApplication();
  const env = group("Environment variables");
  const contents: Promise<string>[] = [];
  page.on("response", (response) => response.url().includes("/api/names?") && contents.push(response.text()));
  const suggested = async (of: Locator) => {
    const options = page.locator(`datalist[id="${await of.getAttribute("list")}"] option`);
    await options.first().waitFor({ state: "attached" });
    return options.evaluateAll((all) => all.map((option) => option.getAttribute("value")));
  };
  await addVariable(env, 1, "TOKEN");
  await field("Source of variable 1").selectOption("Key of a Secret");
  expect(await suggested(field("Secret of variable 1"))).toEqual(["tokens"]);
  await field("Source of variable 1").selectOption("Key of a ConfigMap");
  expect(await suggested(field("ConfigMap of variable 1"))).toContain("settings");
  await press("Add a source");
  expect(await suggested(field("Name of source 1"))).toEqual(["tokens"]);
  await expectAccessible(page);
  for (const content of await Promise.all(contents))
    expect(Object.keys(JSON.parse(content) as object)).toEqual(["names"]);
  expect((await Promise.all(contents)).join()).not.toContain(hidden);
});

test("a compromised page gets names as far as RBAC allows, and nothing else of Secrets", async () => {
  const alice = await environment.visitor(people.alice);
  const bob = await environment.visitor(people.bob);
  const names = (query: string, accept?: string) =>
    alice.ask(`/api/names?${query}`, { ...(accept && { headers: { accept } }) });
  const secrets = `of=secrets&namespace=${team}`;
  for (const accept of [undefined, "application/json", "application/yaml", "*/*"])
    expect((await names(secrets, accept)).text).toBe('{"names":["tokens"]}');
  expect((await names(`${secrets}&watch=true&limit=1`)).text).toBe('{"names":["tokens"]}');
  for (const query of [
    "of=secrets",
    "of=secrets&namespace=",
    `of=secrets&namespace=${team}/secrets/tokens`,
    `of=secrets/tokens&namespace=${team}`,
    `of=serviceaccounts&namespace=${team}`,
    `of=secrets&namespace=..`,
    `${secrets}?watch=true`,
    `${secrets}%3Fwatch=true`,
  ]) {
    expect((await names(query)).status, query).toBe(400);
  }
  const metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  for (const path of ["secrets", "secrets/tokens", "configmaps", "configmaps/settings"]) {
    const { status } = await alice.ask(`/api/kubernetes/api/v1/namespaces/${team}/${path}`, {
      headers: { accept: metadata },
    });
    expect(status, path).toBe(403);
  }
  const refused = await bob.ask(`/api/names?${secrets}`);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('User \\"bob\\" cannot list resource \\"secrets\\"');
  expect((await bob.ask(`/api/names?of=configmaps&namespace=${team}`)).text).toContain("settings");
});
