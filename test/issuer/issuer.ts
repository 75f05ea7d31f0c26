/**
 * The identity provider of a company, played by a certified OpenID Connect server with the people in a list. What a
 * machine talks to is served over TLS, as the API server demands; what a person looks at is served without, because no browser
 * trusts the authority of a run.
 */
import { randomBytes } from "node:crypto";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { loginPage } from "./loginpage.ts";

/** Somebody who can log in. */
export interface Person {
  /** Their name in Kubernetes. */
  readonly name: string;
  readonly password: string;
  readonly groups: readonly string[];
}

/** How it is played. */
export interface IssuerOptions {
  readonly people: readonly Person[];
  /** A certificate for 127.0.0.1. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** Where a login and a logout of the dashboard end: its address. */
  readonly dashboardUrl: string;
  /** How long an ID token is valid. Seconds; five minutes unless given. */
  readonly idTokenSeconds?: number;
}

/** An issuer that listens. */
export interface PlayedIssuer {
  /** As tokens have it: `https://127.0.0.1:port`. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Ends every session there: no refresh token of before is taken any more. */
  revokeAll(): Promise<void>;
  stop(): Promise<void>;
}

const clientId = "denrei-dashboard";

/** Starts it on free ports of 127.0.0.1. */
export async function startIssuer(options: IssuerOptions): Promise<PlayedIssuer> {
  const { people, tls, dashboardUrl, idTokenSeconds = 300 } = options;
  const clientSecret = randomBytes(24).toString("base64url");
  const machines = createHttpsServer({ cert: tls.cert, key: tls.key });
  const browsers = createHttpServer();
  const [machinePort, browserPort] = await Promise.all([listen(machines), listen(browsers)]);
  const url = `https://127.0.0.1:${machinePort}`;
  const pages = `http://127.0.0.1:${browserPort}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const grants = new Set<string>();

  const provider = new Provider(url, {
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
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig" }] },
    cookies: { keys: [randomBytes(24).toString("base64url")] },
    claims: { openid: ["sub", "groups"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
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
      return person && { accountId: sub, claims: () => ({ sub, groups: person.groups }) };
    },
    // Nobody is asked whether the dashboard of their own company may know who they are.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session?.accountId ?? "" });
      grant.addOIDCScope("openid offline_access");
      grants.add(await grant.save());
      return grant;
    },
  });
  provider.use(async (context, next) => {
    if (await loginPage(context, provider, people)) return;
    await next();
    if (context.oidc?.route === "discovery") {
      const body = context.body as Record<string, string>;
      for (const name of ["authorization_endpoint", "end_session_endpoint"])
        body[name] = body[name]?.replace(url, pages) ?? "";
    }
  });
  const handle = provider.callback();
  machines.on("request", handle);
  browsers.on("request", handle);

  return {
    url,
    clientId,
    clientSecret,
    async revokeAll() {
      for (const id of grants) await (await provider.Grant.find(id))?.destroy();
    },
    async stop() {
      await Promise.all([machines, browsers].map(close));
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
