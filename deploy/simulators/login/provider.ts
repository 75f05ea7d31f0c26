/** The OpenID Connect provider of the simulated issuer: its settings, and what the simulation changes in its responses. */
import { randomBytes } from "node:crypto";
import { type Configuration, type KoaContextWithOIDC, Provider } from "oidc-provider";
import { loginPage, type Person } from "./loginpage.ts";
import { memoryStore } from "./store.ts";

/** Counts of served requests. */
export interface IssuerTally {
  /** Refreshed tokens. */
  refreshes: number;
  /** Revoked refresh tokens. */
  revocations: number;
}

/** Parts of the settings. */
export interface SettingsParts {
  readonly people: readonly Person[];
  /** The only client; `url` is the dashboard, to which login and logout redirect. */
  readonly client: { readonly id: string; readonly secret: string; readonly url: string };
  readonly idTokenSeconds: number;
  /** Receives the ids of all grants. */
  readonly grants: Set<string>;
  /** Names in issued tokens, by the name that logs in. */
  readonly impersonated: ReadonlyMap<string, string>;
}

/** Settings of the provider, except its keys. */
export function providerSettings(parts: SettingsParts): Configuration {
  const { people, client: dashboard, idTokenSeconds, grants, impersonated } = parts;
  return {
    adapter: memoryStore(),
    clients: [
      {
        client_id: dashboard.id,
        client_secret: dashboard.secret,
        redirect_uris: [`${dashboard.url}/auth/callback`],
        post_logout_redirect_uris: [`${dashboard.url}/`],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
    ],
    cookies: { keys: [randomBytes(24).toString("base64url")] },
    claims: { openid: ["sub", "groups"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    ttl: {
      IdToken: idTokenSeconds,
      AccessToken: idTokenSeconds,
      RefreshToken: 86_400,
      Session: 86_400,
      Grant: 86_400,
      Interaction: 600,
    },
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    interactions: { url: (_ctx, { uid }) => `/login/${uid}` },
    findAccount(_ctx, sub) {
      const person = people.find(({ name }) => name === sub);
      const accountId = impersonated.get(sub) ?? sub;
      return person && { accountId, claims: () => ({ sub: accountId, groups: person.groups }) };
    },
    // No consent page: the dashboard belongs to the same company.
    async loadExistingGrant({ oidc }) {
      const accountId = oidc.session?.accountId ?? "";
      const grant = new oidc.provider.Grant({ clientId: dashboard.id, accountId });
      grant.addOIDCScope("openid offline_access");
      grants.add(await grant.save());
      return grant;
    },
  };
}

/** Lets a test hold token requests. */
export class TokenHold {
  #released: Promise<void> | undefined;
  #notify: () => void = () => undefined;

  /** Holds requests until `release` is called; `requested` resolves at the first one. */
  hold(): { readonly requested: Promise<void>; release(): void } {
    const released = Promise.withResolvers<void>();
    const requested = Promise.withResolvers<void>();
    this.#released = released.promise;
    this.#notify = requested.resolve;
    return {
      requested: requested.promise,
      release: () => {
        this.#released = undefined;
        released.resolve();
      },
    };
  }

  get isHeld(): boolean {
    return this.#released !== undefined;
  }

  /** Resolves when requests are released. */
  async pass(): Promise<void> {
    this.#notify();
    await this.#released;
  }
}

/** What the simulation adds to the provider. */
export interface ProviderParts {
  /** The `iss` claim of tokens. */
  readonly url: string;
  /** URL of the pages that browsers open. */
  readonly browserUrl: string;
  readonly people: readonly Person[];
  readonly tokenHold: TokenHold;
  readonly tally: IssuerTally;
}

/** Creates the provider. */
export function openProvider(settings: Configuration, parts: ProviderParts): Provider {
  const { url, browserUrl, people, tokenHold, tally } = parts;
  const provider = new Provider(url, settings);
  provider.use(async (context, next) => {
    if (await loginPage(context, provider, people)) return;
    if (context.path === "/token" && tokenHold.isHeld) {
      await tokenHold.pass();
      // The client has disconnected while it was held.
      if (context.req.socket.destroyed) return;
    }
    await next();
    const { body, oidc, status } = context;
    if (oidc?.route === "discovery") pointBrowsersTo(browserUrl, url, body);
    if (status === 200) count(tally, oidc);
  });
  return provider;
}

/** Replaces the URLs of pages in the discovery document. */
function pointBrowsersTo(browserUrl: string, url: string, document: Record<string, string>): void {
  for (const name of ["authorization_endpoint", "end_session_endpoint"])
    document[name] = document[name]?.replace(url, browserUrl) ?? "";
}

function count(tally: IssuerTally, oidc: KoaContextWithOIDC["oidc"] | undefined): void {
  if (oidc?.route === "revocation") tally.revocations += 1;
  if (oidc?.route === "token" && oidc.params?.grant_type === "refresh_token") tally.refreshes += 1;
}
