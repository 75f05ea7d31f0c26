/** Somebody who uses the dashboard without a browser: logs in at the issuer's page, and asks as the page would. */
import { AbsentError } from "../usage.ts";
import type { DashboardFront } from "./dashboards.ts";
import type { DemoPerson } from "./people.ts";

/** Somebody who is logged in. */
export interface Visitor {
  /** Asks for something of the dashboard, with all that its page would send. */
  ask(method: "GET" | "PATCH", path: string, body?: object): Promise<Answer>;
}

/** What the dashboard answers. */
export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

/** More than any login takes. */
const mostRedirects = 20;

/** Logs somebody in. Throws an `AbsentError` when that does not come to a session. */
export async function visit(
  { url }: Pick<DashboardFront, "url">,
  { name, password }: Pick<DemoPerson, "name" | "password">,
  signal: AbortSignal,
): Promise<Visitor> {
  // As a browser has them: a host's, whichever port set them.
  const cookies = new Map<string, string>();

  async function request(address: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const headers = { ...(init.headers as Record<string, string>), ...(cookie !== "" && { cookie }) };
    const response = await fetch(address, { ...init, headers, redirect: "manual", signal });
    for (const line of response.headers.getSetCookie()) keep(cookies, line);
    return response;
  }

  /** Goes where it is sent, to the first page. */
  async function follow(address: string, init?: RequestInit): Promise<{ at: string; response: Response }> {
    let [at, response] = [address, await request(address, init)];
    for (let redirects = 0; redirects < mostRedirects; redirects++) {
      const to = response.headers.get("location");
      if (to === null) return { at, response };
      await response.body?.cancel();
      at = new URL(to, at).href;
      response = await request(at);
    }
    throw new AbsentError(
      `expected a page after ${mostRedirects} redirects from ${address}, found another one`,
    );
  }

  const form = await follow(`${url}/auth/login`);
  await form.response.body?.cancel();
  const inside = await follow(form.at, { method: "POST", body: new URLSearchParams({ name, password }) });
  await inside.response.body?.cancel();
  const session = await request(`${url}/api/session`);
  const { csrf, user } = (await session.json()) as { csrf?: string; user?: string };
  if (user !== name || csrf === undefined)
    throw new AbsentError(
      `expected a session of ${name} at ${url}, found ${session.status}, after a login that ended at ${inside.at} with ${inside.response.status}`,
    );

  return {
    async ask(method, path, body) {
      const response = await request(`${url}${path}`, {
        method,
        headers: {
          "x-denrei-csrf": csrf,
          ...(body && { "content-type": "application/merge-patch+json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: response.status, json: await response.json() };
    },
  };
}

/** Takes over what a `Set-Cookie` says (RFC 6265); one that has ended is gone. */
function keep(cookies: Map<string, string>, line: string): void {
  const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
  const at = pair.indexOf("=");
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  const ends = attributes.find((one) => /^expires=/i.test(one))?.slice("expires=".length);
  const hasEnded =
    attributes.some((one) => /^max-age=(0|-\d+)$/i.test(one)) ||
    (ends !== undefined && Date.parse(ends) <= Date.now());
  if (hasEnded || value === "") cookies.delete(name);
  else cookies.set(name, value);
}
