/**
 * The pages on which people create an App from a manifest and install it. There is no login: each page offers the accounts to act as.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 * https://docs.github.com/en/apps/using-github-apps/installing-a-github-app-from-a-third-party
 */
import type { ApiAnswer, ApiCall } from "./call.ts";
import type { CreatedApp, CreatedApps } from "./createdapps.ts";
import { escaped, hiddenInputs, messagePage, page, redirect } from "./htmlpage.ts";
import { type Manifest, nameProblem, parseManifest } from "./manifest.ts";

/** Dependencies of the pages. */
export interface CreatePageParts {
  readonly created: CreatedApps;
  /** Names in URLs of all Apps. */
  readonly slugs: () => readonly string[];
  /** Logins of people. */
  readonly people: readonly string[];
  /** Full names of all repositories. */
  readonly repositories: readonly string[];
  /** Called after an App was installed, or its installation changed. */
  readonly installed: (app: CreatedApp, installation: number, action: "install" | "update") => void;
}

const newPath = /^(?:\/organizations\/([^/]+))?\/settings\/apps\/new$/;
const createPath = "/settings/apps/created-from-manifest";
const appPath = /^\/(?:github-)?apps\/([^/]+)(\/installations\/new)?$/;

const notFound = (): ApiAnswer => messagePage(404, "404", "This page does not exist.");

/** Serves the pages; undefined for other paths. */
export function createPages(parts: CreatePageParts): (call: ApiCall) => ApiAnswer | undefined {
  return ({ method, path, body }) => {
    const [pathname = "", search] = path.split("?", 2);
    const query = new URLSearchParams(search);
    const form = new URLSearchParams(method === "POST" ? body.toString() : "");
    const start = newPath.exec(pathname);
    if (start !== null)
      return method === "POST"
        ? confirm(parts, query, form, start[1])
        : messagePage(
            200,
            "Register new GitHub App",
            "The simulated GitHub creates Apps only from a manifest.",
          );
    if (pathname === createPath && method === "POST") return create(parts, form);
    const [, slug, isNew] = appPath.exec(pathname) ?? [];
    if (slug === undefined) return undefined;
    const app = parts.created.all.find((one) => one.slug === slug);
    if (app === undefined) return notFound();
    if (isNew === undefined) return about(app);
    return method === "POST" ? install(parts, app, form) : choose(parts, app, query);
  };
}

const accountsOf = ({ people, repositories }: CreatePageParts): readonly string[] => [
  ...new Set([...people, ...repositories.map((name) => name.split("/", 1)[0] ?? "")]),
];

/** The page that GitHub shows for a posted manifest. */
function confirm(
  parts: CreatePageParts,
  query: URLSearchParams,
  form: URLSearchParams,
  organization: string | undefined,
): ApiAnswer {
  const manifest = parseManifest(form.get("manifest") ?? "");
  if (typeof manifest === "string")
    return messagePage(
      422,
      "Invalid GitHub App configuration",
      `The configuration does not appear to be a valid GitHub App manifest. ${manifest}`,
    );
  if (
    organization !== undefined &&
    (parts.people.includes(organization) || !accountsOf(parts).includes(organization))
  )
    return notFound();
  const hidden = new Map([
    ["manifest", form.get("manifest") ?? ""],
    ["state", query.get("state") ?? ""],
  ]);
  return confirmPage(parts, { manifest, hidden, organization, name: manifest.name ?? "" });
}

interface Confirmation {
  readonly manifest: Manifest;
  readonly hidden: ReadonlyMap<string, string>;
  readonly organization: string | undefined;
  readonly name: string;
  readonly problem?: string;
}

function confirmPage(
  { people }: CreatePageParts,
  { manifest, hidden, organization, name, problem }: Confirmation,
): ApiAnswer {
  const owners = organization === undefined ? people : [organization];
  const buttons = owners
    .map(
      (owner) =>
        `<button name="owner" value="${escaped(owner)}">Create GitHub App for ${escaped(owner)}</button>`,
    )
    .join("");
  const facts = [
    ...Object.entries(manifest.default_permissions).map(([of, level]) => `${of}: ${level}`),
    ...manifest.default_events.map((event) => `event ${event}`),
    `webhooks to ${manifest.hook_attributes?.url ?? "nowhere"}`,
  ];
  const extra = organization === undefined ? "" : hiddenInputs([["organization", organization]]);
  return page(
    problem === undefined ? 200 : 422,
    `<h1>Create GitHub App</h1>${problem === undefined ? "" : `<p role="alert">${escaped(problem)}</p>`}
    <ul>${facts.map((fact) => `<li>${escaped(fact)}</li>`).join("")}</ul>
    <form method="post" action="${createPath}">${hiddenInputs(hidden)}${extra}
    <label for="name">GitHub App name</label><input id="name" name="name" value="${escaped(name)}">${buttons}</form>`,
  );
}

function create(parts: CreatePageParts, form: URLSearchParams): ApiAnswer {
  const [text, name, owner] = [form.get("manifest") ?? "", form.get("name") ?? "", form.get("owner") ?? ""];
  const manifest = parseManifest(text);
  if (typeof manifest === "string" || !accountsOf(parts).includes(owner)) return notFound();
  const problem = nameProblem(name, parts.slugs());
  const state = form.get("state") ?? "";
  if (problem !== undefined) {
    const hidden = new Map([
      ["manifest", text],
      ["state", state],
    ]);
    const organization = form.get("organization") ?? undefined;
    return confirmPage(parts, { manifest, hidden, organization, name, problem });
  }
  const code = parts.created.create(name, owner, manifest);
  if (manifest.redirect_url === undefined) return messagePage(200, name, "The App was created.");
  const back = new URL(manifest.redirect_url);
  back.searchParams.set("code", code);
  if (state !== "") back.searchParams.set("state", state);
  return redirect(back.href);
}

const about = ({ name, owner, slug }: CreatedApp): ApiAnswer =>
  page(
    200,
    `<h1>${escaped(name)}</h1><p>An App of ${escaped(owner)}.</p><a href="/github-apps/${slug}/installations/new">Install</a>`,
  );

/** The page where an account and its repositories are chosen. A private App can only be installed on its owner. */
function choose(parts: CreatePageParts, app: CreatedApp, query: URLSearchParams): ApiAnswer {
  const accounts = app.manifest.public ? accountsOf(parts) : [app.owner];
  const asked = query.get("account");
  const [account = ""] = asked === null ? accounts : accounts.filter((one) => one === asked);
  if (account === "") return notFound();
  const state = query.get("state") ?? "";
  const others = accounts
    .filter((one) => one !== account)
    .map(
      (one) =>
        `<li><a href="?${escaped(String(new URLSearchParams({ account: one, state })))}">${escaped(one)}</a></li>`,
    )
    .join("");
  const repositories = parts.repositories
    .filter((name) => name.startsWith(`${account}/`))
    .map(
      (name) =>
        `<label><input type="checkbox" name="repository" value="${escaped(name)}"> ${escaped(name)}</label>`,
    )
    .join("");
  return page(
    200,
    `<h1>Install ${escaped(app.name)}</h1><p>On the account <strong>${escaped(account)}</strong>.</p>
    ${others === "" ? "" : `<p>Other accounts:</p><ul>${others}</ul>`}
    <form method="post">${hiddenInputs([
      ["account", account],
      ["state", state],
    ])}
    <label><input type="radio" name="selection" value="all" checked> All repositories</label>
    <label><input type="radio" name="selection" value="selected"> Only select repositories</label>
    <fieldset><legend>Repositories</legend>${repositories}</fieldset><button>Install</button></form>`,
  );
}

function install(parts: CreatePageParts, app: CreatedApp, form: URLSearchParams): ApiAnswer {
  const account = form.get("account") ?? "";
  const allowed = app.manifest.public ? accountsOf(parts) : [app.owner];
  const chosen = form.getAll("repository").filter((name) => name.startsWith(`${account}/`));
  const repositories = form.get("selection") === "selected" ? chosen : ("all" as const);
  if (!allowed.includes(account) || repositories.length === 0) return notFound();
  const { id, action } = parts.created.install(app, account, repositories);
  parts.installed(app, id, action);
  const { setup_url: setup, setup_on_update: onUpdate } = app.manifest;
  if (setup === undefined || (action === "update" && !onUpdate))
    return messagePage(200, app.name, `The App is installed on ${account}.`);
  const to = new URL(setup);
  to.searchParams.set("installation_id", String(id));
  to.searchParams.set("setup_action", action);
  const state = form.get("state") ?? "";
  if (state !== "") to.searchParams.set("state", state);
  return redirect(to.href);
}
