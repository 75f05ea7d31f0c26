/** Discovery of the OpenID Connect issuer's configuration. */
import { readFile } from "node:fs/promises";
import * as oidc from "openid-client";
import { Agent, fetch as undiciFetch } from "undici";

/** The issuer, and the dashboard's client there. */
export interface IssuerSettings {
  /** Public URL of the dashboard. */
  readonly dashboardUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Path of a file with the client secret; undefined for a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  /** Path of a file with the CA certificate. */
  readonly ca: string | undefined;
}

/** The issuer's configuration, cached. */
export interface Discovery {
  /** At most ten minutes old. */
  configuration(): Promise<oidc.Configuration>;
  /** Drops the cached configuration after a failure. The next call reads it, the secret, and the CA certificate again. */
  forget(): void;
}

/** Timeout of a request to the issuer. Seconds. */
export const answerSeconds = 10;
/** How long a configuration is cached. Milliseconds. */
const keptMillis = 600_000;

/** Fetches the configuration on first use, after a failure, and when the cached one is too old. */
export function openDiscovery(settings: IssuerSettings): Discovery {
  let cached: { readonly at: number; readonly answer: Promise<oidc.Configuration> } | undefined;
  const connect = connector(settings.ca);
  return {
    configuration() {
      if (cached === undefined || performance.now() - cached.at > keptMillis) {
        const fetched = { at: performance.now(), answer: discover(settings, connect) };
        fetched.answer.catch(() => {
          if (cached === fetched) cached = undefined;
        });
        cached = fetched;
      }
      return cached.answer;
    },
    forget() {
      cached = undefined;
    },
  };
}

type Connector = () => Promise<oidc.DiscoveryRequestOptions>;

/** Reads the CA certificate before each use, and keeps connections as long as it does not change. */
function connector(ca: string | undefined): Connector {
  let known: { readonly text: string; readonly agent: Agent } | undefined;
  return async () => {
    if (ca === undefined) return {};
    const text = await readFile(ca, "utf8");
    if (known?.text !== text) {
      void known?.agent.close();
      known = { text, agent: new Agent({ connect: { ca: text } }) };
    }
    const dispatcher = known.agent;
    return {
      [oidc.customFetch]: (url, options) =>
        undiciFetch(url, { ...options, dispatcher } as Parameters<
          typeof undiciFetch
        >[1]) as unknown as Promise<Response>,
    };
  };
}

async function discover(
  { dashboardUrl, issuer, clientId, clientSecret }: IssuerSettings,
  connect: Connector,
): Promise<oidc.Configuration> {
  const secret = clientSecret === undefined ? undefined : (await readFile(clientSecret, "utf8")).trim();
  const config = await oidc.discovery(
    new URL(issuer),
    clientId,
    secret,
    secret === undefined ? oidc.None() : oidc.ClientSecretBasic(secret),
    { timeout: answerSeconds, ...(await connect()) },
  );
  if (isOwnMachine(new URL(dashboardUrl))) allowOwnMachine(config);
  return config;
}

const isOwnMachine = ({ protocol, hostname }: URL): boolean =>
  protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname);

/**
 * Allows plain HTTP if the dashboard and all endpoints of the issuer are on this machine: browsers do not trust the CA of a local
 * platform. Requests across a network still need TLS.
 */
function allowOwnMachine(config: oidc.Configuration): void {
  const endpoints = Object.entries(config.serverMetadata()).filter(([name]) =>
    /_endpoint$|^jwks_uri$/.test(name),
  );
  const plain = endpoints.filter(([, address]) => String(address).startsWith("http:"));
  if (plain.length > 0 && plain.every(([, address]) => isOwnMachine(new URL(String(address)))))
    oidc.allowInsecureRequests(config);
}
