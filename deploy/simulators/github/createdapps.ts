/**
 * Apps that people create while the simulator runs. The package `emulate` knows only the Apps that it starts with, so their requests
 * are answered here. Installation tokens come from one hidden App, which is installed on all accounts.
 */
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, verify } from "node:crypto";
import { appJwt, claimedApp } from "./appjwt.ts";
import { type ApiAnswer, type ApiCall, type Endpoint, json, problem } from "./call.ts";
import type { Manifest } from "./manifest.ts";
import { slugOf } from "./manifest.ts";
import { clientOf } from "./people.ts";
import { type HiddenInstallation, hiddenApp, type InstallationOptions, type SeededApp } from "./seed.ts";
import type { UserApi } from "./userrequests.ts";

/** An App from a manifest. */
export interface CreatedApp extends SeededApp {
  readonly name: string;
  /** Login of the user or organization. */
  readonly owner: string;
  readonly manifest: Manifest;
  /** PEM in PKCS #1. */
  readonly privateKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly installations: Required<InstallationOptions>[];
}

/** Dependencies of created Apps. */
export interface CreatedAppParts {
  /** All Apps; created ones are added. */
  readonly apps: SeededApp[];
  readonly hidden: {
    readonly privateKey: string;
    readonly installations: readonly HiddenInstallation[];
  };
  /** Logins of people; all other accounts are organizations. */
  readonly people: readonly string[];
  readonly ask: (call: ApiCall) => Promise<ApiAnswer>;
  /** Calls the API as a member of all accounts. */
  readonly api: UserApi;
  /** URL of the simulated GitHub. */
  readonly url: string;
}

/** GitHub keeps a code for an hour. */
const codeMillis = 3_600_000;
const firstId = 900_001;
const firstInstallation = 70_000_001;

const conversionPath = /^\/app-manifests\/([^/]+)\/conversions$/;
const installationPath = /^\/app\/installations\/(\d+)(\/access_tokens)?$/;

/** The created Apps. */
export class CreatedApps {
  readonly all: CreatedApp[] = [];
  readonly #parts: CreatedAppParts;
  readonly #codes = new Map<string, { readonly app: CreatedApp; readonly at: number }>();
  #installations = 0;

  constructor(parts: CreatedAppParts) {
    this.#parts = parts;
  }

  /** Creates an App. Returns the code with which its keys can be fetched once. */
  create(name: string, owner: string, manifest: Manifest): string {
    const id = firstId + this.all.length;
    const slug = slugOf(name);
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const { hook_attributes: hook, default_events, default_permissions, callback_urls } = manifest;
    const seeded = {
      ...{ id, slug, name, owner, manifest, installations: [] },
      webhookSecret: hook === undefined ? "" : randomBytes(20).toString("hex"),
      hookUrl: hook?.active === true ? hook.url : null,
      permissions: { ...default_permissions, metadata: "read" as const },
      events: default_events,
      callbackUrls: callback_urls,
    };
    const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
    const app: CreatedApp = { ...seeded, ...clientOf(seeded), privateKey: pem };
    this.all.push(app);
    this.#parts.apps.push(app);
    const code = randomBytes(20).toString("hex");
    this.#codes.set(code, { app, at: Date.now() });
    return code;
  }

  /** Makes all codes as old as if they had been issued earlier. */
  ageCodes(millis: number): void {
    for (const [code, { app, at }] of this.#codes) this.#codes.set(code, { app, at: at - millis });
  }

  /** Installs the App, or changes what its installation on the account covers. */
  install(
    app: CreatedApp,
    account: string,
    repositories: readonly string[] | "all",
  ): { readonly id: number; readonly action: "install" | "update" } {
    const at = app.installations.findIndex((one) => one.account === account);
    const id = app.installations[at]?.id ?? firstInstallation + this.#installations++;
    const installation = { id, account, repositories };
    if (at < 0) app.installations.push(installation);
    else app.installations[at] = installation;
    return { id, action: at < 0 ? "install" : "update" };
  }

  /** Answers the conversion of a code, and all requests of created Apps; undefined for others. */
  readonly answer: Endpoint = async (call) => {
    const code = conversionPath.exec(call.path)?.[1];
    if (code !== undefined) return call.method === "POST" ? this.#convert(code) : problem(404, "Not Found");
    const jwt = /^bearer\s+(eyJ\S+)$/i.exec(call.headers.authorization ?? "")?.[1];
    const app = jwt && this.all.find(({ id }) => id === claimedApp(jwt));
    if (!jwt || !app) return undefined;
    if (!isSigned(jwt, app)) return problem(401, "A JSON web token could not be decoded");
    return this.#answerApp(app, call);
  };

  /** https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest */
  #convert(code: string): ApiAnswer {
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    if (found === undefined || found.at + codeMillis <= Date.now()) return problem(404, "Not Found");
    const { app } = found;
    const { clientSecret: client_secret, privateKey: pem } = app;
    const webhook_secret = app.manifest.hook_attributes === undefined ? null : app.webhookSecret;
    return json(201, { ...this.#described(app), client_secret, webhook_secret, pem });
  }

  async #answerApp(app: CreatedApp, call: ApiCall): Promise<ApiAnswer | undefined> {
    const path = call.path.split("?", 1)[0] ?? "";
    if (path === "/app" && call.method === "GET") return json(200, this.#described(app));
    if (path === "/app/installations" && call.method === "GET")
      return json(
        200,
        app.installations.map((one) => this.installationOf(app, one)),
      );
    // Served for all Apps.
    if (path.startsWith("/app/hook/deliveries")) return undefined;
    const [, id, tokens] = installationPath.exec(path) ?? [];
    const installation = app.installations.find((one) => one.id === Number(id));
    if (installation === undefined) return problem(404, "Not Found");
    if (tokens !== undefined && call.method === "POST") return this.#mint(app, installation, call);
    return call.method === "GET"
      ? json(200, this.installationOf(app, installation))
      : problem(404, "Not Found");
  }

  /** Requests the token of the hidden App, limited to what this installation covers. */
  async #mint(
    app: CreatedApp,
    { account, repositories }: Required<InstallationOptions>,
    call: ApiCall,
  ): Promise<ApiAnswer> {
    const body = call.body.length > 0 ? (JSON.parse(call.body.toString()) as TokenRequest) : {};
    const { permissions = app.permissions, ...requested } = body;
    if (Object.entries(permissions).some(([name, level]) => exceeds(level, app.permissions[name])))
      return problem(422, "The permissions requested are not granted to this installation.");
    const scope = repositories === "all" ? requested : await this.#within(repositories, requested);
    if (scope === undefined)
      return problem(422, "The repositories requested are not accessible to this installation.");
    const at = this.#parts.hidden.installations.find((one) => one.account === account);
    if (at === undefined) return problem(404, "Not Found");
    const jwt = appJwt({ id: hiddenApp.id, privateKey: this.#parts.hidden.privateKey });
    return this.#parts.ask({
      ...call,
      path: `/app/installations/${at.id}/access_tokens`,
      headers: { host: "github", "content-type": "application/json", authorization: `Bearer ${jwt}` },
      body: Buffer.from(JSON.stringify({ permissions, ...scope })),
    });
  }

  /** The requested repositories, or all selected ones. Undefined if others are requested. */
  async #within(
    selected: readonly string[],
    { repositories, repository_ids }: TokenRequest,
  ): Promise<TokenRequest | undefined> {
    const names = selected.map((name) => name.split("/")[1]?.toLowerCase());
    if (repositories !== undefined)
      return repositories.every((name) => names.includes(name.toLowerCase())) ? { repositories } : undefined;
    const found = selected.map((name) => this.#parts.api<{ id: number }>("GET", `/repos/${name}`));
    const ids = (await Promise.all(found)).map(({ id }) => id);
    if (repository_ids === undefined) return { repository_ids: ids };
    return repository_ids.every((id) => ids.includes(id)) ? { repository_ids } : undefined;
  }

  #described({
    id,
    slug,
    name,
    owner,
    clientId,
    permissions,
    events,
    manifest,
    installations,
  }: CreatedApp): object {
    return {
      ...{ id, slug, name, client_id: clientId, permissions, events },
      owner: this.#account(owner),
      external_url: manifest.url,
      html_url: `${this.#parts.url}/github-apps/${slug}`,
      installations_count: installations.length,
    };
  }

  /** An installation as the API and webhooks describe it. */
  installationOf(app: CreatedApp, { id, account, repositories }: Required<InstallationOptions>): object {
    const { permissions, events, slug } = app;
    return {
      ...{ id, app_id: app.id, app_slug: slug, permissions, events },
      account: this.#account(account),
      target_type: this.#account(account).type,
      repository_selection: repositories === "all" ? "all" : "selected",
      html_url: `${this.#parts.url}/settings/installations/${id}`,
      updated_at: new Date().toISOString(),
      suspended_at: null,
    };
  }

  #account(login: string): { readonly login: string; readonly id: number; readonly type: string } {
    const id = createHash("sha256").update(login).digest().readUInt32BE(0);
    return { login, id, type: this.#parts.people.includes(login) ? "User" : "Organization" };
  }
}

/** https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app */
interface TokenRequest {
  readonly repositories?: readonly string[];
  readonly repository_ids?: readonly number[];
  readonly permissions?: Readonly<Record<string, string>>;
}

const exceeds = (level: string, granted: string | undefined): boolean =>
  granted === undefined || (level !== "read" && level !== granted);

function isSigned(jwt: string, { privateKey }: CreatedApp): boolean {
  const [head, body, signature = ""] = jwt.split(".");
  const signed = Buffer.from(`${head}.${body}`);
  return verify("RSA-SHA256", signed, createPublicKey(privateKey), Buffer.from(signature, "base64url"));
}
