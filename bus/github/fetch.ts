/** HTTP for calls to GitHub: only to allowed addresses, within one origin, and with bounded responses. */
import { isIP } from "node:net";
import { Agent, fetch as undiciFetch } from "undici";
import { AddressNotAllowedError, lookupWithin, type Reach } from "./addresses.ts";
import { GitHubError } from "./errors.ts";

/** The part of fetch that calls to GitHub need. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A page of a hundred pull requests has a few MB. Bytes. */
const longestAnswer = 32 * 2 ** 20;
/** A renamed repository causes one redirect. */
const maxRedirects = 3;

const agents: Partial<Record<Reach, Agent>> = {};

/** Connections are shared by all calls of a process. */
const agentOf = (reach: Reach): Agent => {
  agents[reach] ??= new Agent({ connect: { lookup: lookupWithin(reach) } });
  return agents[reach];
};

/**
 * A fetch that connects only to allowed addresses. An IP address in the URL itself, which needs no lookup, was written by the
 * operator.
 */
export function fetchWithin(reach: Reach): Fetch {
  return async (url, init) => {
    const { hostname } = new URL(url);
    const isAddress = isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
    if (isAddress && reach === "public")
      throw new AddressNotAllowedError(`${hostname} is not an address of a GitHub`);
    const options = { ...init, dispatcher: agentOf(reach) };
    return (await undiciFetch(url, options as Parameters<typeof undiciFetch>[1])) as unknown as Response;
  };
}

/**
 * Reads responses to their end, so that an incomplete one is a failed call. Follows redirects of a GET within its origin;
 * nothing is sent to another host. `name` is the name of the call, for errors.
 */
export const wholeAnswers =
  (fetch: Fetch, name: string, limitBytes = longestAnswer): Fetch =>
  async (url, init) => {
    let at = url;
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(at, { ...init, redirect: "manual" });
      const location = isRedirect(response) ? response.headers.get("location") : null;
      if (location === null) return whole(response, name, limitBytes);
      await response.body?.cancel();
      at = redirected(at, location, name, response.status);
      if (redirects >= maxRedirects)
        throw new GitHubError(`too many redirects (${redirects + 1}) after ${name}`, response.status);
      if (init.method !== undefined && init.method !== "GET" && response.status < 307)
        throw new GitHubError(`${name} was redirected to a request with another method`, response.status);
    }
  };

const isRedirect = ({ status }: Response): boolean => [301, 302, 303, 307, 308].includes(status);

function redirected(from: string, location: string, name: string, status: number): string {
  const to = URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (to?.origin === new URL(from).origin) return to.href;
  throw new GitHubError(
    `${name} was redirected to another host, to which nothing is sent. ` +
      "Set url to the address of this GitHub.",
    status,
  );
}

async function whole(response: Response, name: string, limitBytes: number): Promise<Response> {
  const { status, headers } = response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > limitBytes)
      throw new GitHubError(`response to ${name} too large: limit ${limitBytes} bytes`, status);
    chunks.push(chunk);
  }
  return new Response(length === 0 ? null : Buffer.concat(chunks), { status, headers });
}
