/**
 * A simulated identity provider: a certified OpenID Connect server with a fixed list of people. It serves machines over
 * TLS, as the API server requires, and browsers without TLS, because no browser trusts the CA of a run.
 */
import { randomBytes } from "node:crypto";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { type Configuration, Provider } from "oidc-provider";
import { loginPage, type Person } from "./loginpage.ts";
import { memoryStore } from "./store.ts";

/** Options of the simulated issuer. */
export interface IssuerOptions {
  readonly people: readonly Person[];
  /** A certificate for 127.0.0.1. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** Port for machines. Defaults to a free port. */
  readonly port?: number;
  /** URL of the dashboard, to which login and logout redirect. */
  readonly dashboardUrl: string;
  /** Lifetime of an ID token in seconds. Defaults to five minutes. */
  readonly idTokenSeconds?: number;
}

/** Counts of served requests. */
export interface IssuerTally {
  /** Refreshed tokens. */
  refreshes: number;
  /** Revoked refresh tokens. */
  revocations: number;
}

/** A running issuer. */
export interface SimulatedIssuer {
  /** The `iss` claim of tokens: `https://127.0.0.1:port`. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Ends all sessions and invalidates all refresh tokens. */
  revokeAll(): Promise<void>;
  readonly tally: Readonly<IssuerTally>;
  /** Signs new tokens with a new key. */
  rotateKeys(): Promise<void>;
  /** Stops listening for machines until the returned function is called. */
  goDown(): Promise<() => Promise<void>>;
  /** Holds token requests until `release` is called; `requested` resolves at the first one. */
  holdTokens(): { readonly requested: Promise<void>; release(): void };
  /** Issues tokens for `other` when `name` logs in. */
  impersonate(name: string, other: string): void;
  stop(): Promise<void>;
}

/** The dashboard as a client of the issuer. */
export const clientId = "denrei-dashboard";

/** Starts the issuer on free ports of 127.0.0.1. */
export async function startIssuer(options: IssuerOptions): Promise<SimulatedIssuer> {
  const { people, tls, dashboardUrl, idTokenSeconds = 300 } = options;
  const clientSecret = randomBytes(24).toString("base64url");
  const machines = createHttpsServer({ cert: tls.cert, key: tls.key });
  const browsers = createHttpServer();
  const [machinePort, browserPort] = await Promise.all([listen(machines, options.port), listen(browsers)]);
  const url = `https://127.0.0.1:${machinePort}`;
  const pages = `http://127.0.0.1:${browserPort}`;
  const keys: JWK[] = [await newKey()];
  const grants = new Set<string>();
  const tally: IssuerTally = { refreshes: 0, revocations: 0 };
  const impersonated = new Map<string, string>();
  let held: Promise<void> | undefined;
  let notify: () => void = () => undefined;

  const settings: Configuration = {
    adapter: memoryStore(),
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${dashboardUrl}/auth/callback`],
        post_logout_redirect_uris: [`${dashboardUrl}/`],
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
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session?.accountId ?? "" });
      grant.addOIDCScope("openid offline_access");
      grants.add(await grant.save());
      return grant;
    },
  };

  function newProvider(): Provider {
    const provider = new Provider(url, { ...settings, jwks: { keys } });
    provider.use(async (context, next) => {
      if (await loginPage(context, provider, people)) return;
      if (context.path === "/token" && held !== undefined) {
        notify();
        await held;
        // The client has disconnected while it was held.
        if (context.req.socket.destroyed) return;
      }
      await next();
      if (context.oidc?.route === "discovery") {
        const body = context.body as Record<string, string>;
        for (const name of ["authorization_endpoint", "end_session_endpoint"])
          body[name] = body[name]?.replace(url, pages) ?? "";
      }
      if (context.status !== 200) return;
      if (context.oidc?.route === "revocation") tally.revocations += 1;
      if (context.oidc?.route === "token" && context.oidc.params?.grant_type === "refresh_token")
        tally.refreshes += 1;
    });
    return provider;
  }

  let provider = newProvider();
  let handle = provider.callback();
  for (const server of [machines, browsers])
    server.on("request", (request, response) => void handle(request, response));

  return {
    url,
    clientId,
    clientSecret,
    async revokeAll() {
      for (const id of grants) await (await provider.Grant.find(id))?.destroy();
    },
    tally,
    async rotateKeys() {
      keys.unshift(await newKey());
      provider = newProvider();
      handle = provider.callback();
    },
    async goDown() {
      await close(machines);
      return async () => void (await listen(machines, machinePort));
    },
    holdTokens() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const seen = Promise.withResolvers<void>();
      held = promise;
      notify = seen.resolve;
      return {
        requested: seen.promise,
        release() {
          held = undefined;
          resolve();
        },
      };
    },
    impersonate: (name, other) => void impersonated.set(name, other),
    async stop() {
      await Promise.all([machines, browsers].map(close));
    },
  };
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const kid = randomBytes(8).toString("base64url");
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
}

/** Listens on `port`, or on a free port. */
async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
