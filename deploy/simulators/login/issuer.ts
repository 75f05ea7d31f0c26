/**
 * A simulated identity provider: a certified OpenID Connect server with a fixed list of people. It serves machines over
 * TLS, as the API server requires, and browsers without TLS, because browsers do not trust its CA.
 */
import { randomBytes } from "node:crypto";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import type { Person } from "./loginpage.ts";
import { type IssuerTally, openProvider, providerSettings, TokenHold } from "./provider.ts";

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
  const browserUrl = `http://127.0.0.1:${browserPort}`;
  const keys: JWK[] = [await newKey()];
  const grants = new Set<string>();
  const impersonated = new Map<string, string>();
  const tally: IssuerTally = { refreshes: 0, revocations: 0 };
  const tokenHold = new TokenHold();
  const client = { id: clientId, secret: clientSecret, url: dashboardUrl };
  const settings = providerSettings({ people, client, idTokenSeconds, grants, impersonated });
  const newProvider = () =>
    openProvider({ ...settings, jwks: { keys } }, { url, browserUrl, people, tokenHold, tally });

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
    holdTokens: () => tokenHold.hold(),
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
