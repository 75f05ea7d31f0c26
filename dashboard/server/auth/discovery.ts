/** What is known of the issuer: its addresses, as it publishes them, and who we are there. */
import { readFile } from "node:fs/promises";
import * as oidc from "openid-client";
import { Agent, fetch as undiciFetch } from "undici";

/** Where people log in, and as which client. */
export interface IssuerSettings {
  /** Where browsers come back to. */
  readonly dashboardUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Path of a file with the client's secret; a public client has none. */
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  /** Path of a file with the authority's certificate. */
  readonly ca: string | undefined;
}

/** The issuer's configuration, asked for once and again. */
export interface Discovery {
  /** As it is, or was a while ago. */
  configuration(): Promise<oidc.Configuration>;
  /** It did not serve: the next one is asked for anew, with the secret and the authority that there are then. */
  forget(): void;
}

/** An answer takes less, or there is none. Seconds. */
export const answerSeconds = 10;
/** What an issuer has changed is known after that. Milliseconds. */
const keptMillis = 600_000;

/** Asks at the first need, again after that has failed, and from time to time. */
export function openDiscovery(settings: IssuerSettings): Discovery {
  let asked: { readonly at: number; readonly answer: Promise<oidc.Configuration> } | undefined;
  const connect = connector(settings.ca);
  return {
    configuration() {
      if (asked === undefined || performance.now() - asked.at > keptMillis) {
        const question = { at: performance.now(), answer: discover(settings, connect) };
        question.answer.catch(() => {
          if (asked === question) asked = undefined;
        });
        asked = question;
      }
      return asked.answer;
    },
    forget() {
      asked = undefined;
    },
  };
}

type Connector = () => Promise<oidc.DiscoveryRequestOptions>;

/** How to connect: with the authority that is in the file now, over connections that are kept. */
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
 * A dashboard without TLS is for one's own machine, and so is an issuer whose pages have none, because no browser trusts what
 * a local platform is signed by. What is asked for across a network stays refused.
 */
function allowOwnMachine(config: oidc.Configuration): void {
  const endpoints = Object.entries(config.serverMetadata()).filter(([name]) =>
    /_endpoint$|^jwks_uri$/.test(name),
  );
  const plain = endpoints.filter(([, address]) => String(address).startsWith("http:"));
  if (plain.length > 0 && plain.every(([, address]) => isOwnMachine(new URL(String(address)))))
    oidc.allowInsecureRequests(config);
}
