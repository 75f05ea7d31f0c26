/**
 * The identity provider of a company, played by a certified OpenID Connect server with the people in a list. What a
 * machine talks to is served over TLS, as the API server demands; what a person looks at is served without, because no browser
 * trusts the authority of a run.
 */
import { randomBytes } from "node:crypto";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { type Configuration, Provider } from "oidc-provider";
import { loginPage, type Person } from "./loginpage.ts";
import { memoryStore } from "./store.ts";

/** How it is played. */
export interface IssuerOptions {
  readonly people: readonly Person[];
  /** A certificate for 127.0.0.1. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** Where machines reach it; a free port unless given. */
  readonly port?: number;
  /** Where a login and a logout of the dashboard end: its address. */
  readonly dashboardUrl: string;
  /** How long an ID token is valid. Seconds; five minutes unless given. */
  readonly idTokenSeconds?: number;
}

/** What the issuer was asked for, and has given. */
export interface IssuerTally {
  /** New tokens for refresh tokens. */
  refreshes: number;
  /** Refresh tokens that it was not to take any more. */
  revocations: number;
}

/** An issuer that listens. */
export interface PlayedIssuer {
  /** As tokens have it: `https://127.0.0.1:port`. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Ends every session there: no refresh token of before is taken any more. */
  revokeAll(): Promise<void>;
  readonly tally: Readonly<IssuerTally>;
  /** Signs with a new key from now on. */
  rotateKeys(): Promise<void>;
  /** Is not there for machines, until the returned function is called. */
  leave(): Promise<() => Promise<void>>;
  /** Does not answer who asks for tokens, until the returned function is called; `asked` resolves when somebody has. */
  hesitate(): { readonly asked: Promise<void>; goOn(): void };
  /** Gives the tokens of one person in the name of another. */
  confuse(name: string, other: string): void;
  stop(): Promise<void>;
}

/** The dashboard as a client of the issuer. */
export const clientId = "denrei-dashboard";

/** Starts it on free ports of 127.0.0.1. */
export async function startIssuer(options: IssuerOptions): Promise<PlayedIssuer> {
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
  const confused = new Map<string, string>();
  let held: Promise<void> | undefined;
  let asked: () => void = () => undefined;

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
      const accountId = confused.get(sub) ?? sub;
      return person && { accountId, claims: () => ({ sub: accountId, groups: person.groups }) };
    },
    // Nobody is asked whether the dashboard of their own company may know who they are.
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
        asked();
        await held;
        // Whoever has died meanwhile was never here.
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
    async leave() {
      await close(machines);
      return async () => void (await listen(machines, machinePort));
    },
    hesitate() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const seen = Promise.withResolvers<void>();
      held = promise;
      asked = seen.resolve;
      return {
        asked: seen.promise,
        goOn() {
          held = undefined;
          resolve();
        },
      };
    },
    confuse: (name, other) => void confused.set(name, other),
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

/** On any free port unless given. */
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
