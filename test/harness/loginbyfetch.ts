/** Somebody who has logged in at a dashboard without a browser, for tests that look at what is on the wire. */
import { Agent, fetch, type RequestInit, type Response } from "undici";
import type { Person } from "../issuer/issuer.ts";

/** A session: requests of it have its cookie, and the page's own word where they change something. */
export interface FetchSession {
  /** As the header `Cookie` has it. */
  readonly cookie: string;
  readonly csrf: string;
  /** A request to a path of the dashboard. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

const mostRedirects = 20;
/** A connection per request: none is found dead that was kept. */
const dispatcher = new Agent({ pipelining: 0 });

/** Logs in as a browser would. Throws when that does not end where it should. */
export async function loginByFetch(url: string, person: Person): Promise<FetchSession> {
  // Cookies do not tell ports apart, and here all have the same host.
  const jar = new Map<string, string>();
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join("; ");

  /** Follows redirects; those of a form are asked for with GET. */
  async function visit(address: string, init: RequestInit = {}): Promise<{ at: string; response: Response }> {
    let at = address;
    let sent = init;
    for (let count = 0; count < mostRedirects; count++) {
      const headers = { ...(sent.headers as Record<string, string>), cookie: cookie() };
      const response = await fetch(at, { ...sent, headers, redirect: "manual", dispatcher });
      for (const text of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
        if (value === "" || /expires=Thu, 01 Jan 1970|max-age=0/i.test(text)) jar.delete(name);
        else jar.set(name, value);
      }
      const location = response.headers.get("location");
      if (location === null) return { at, response };
      await response.body?.cancel();
      at = new URL(location, at).href;
      sent = {};
    }
    throw new Error(`expected at most ${mostRedirects} redirects from ${address}, found more, to ${at}`);
  }

  const form = await visit(`${url}/auth/login`);
  await form.response.body?.cancel();
  const body = new URLSearchParams({ name: person.name, password: person.password });
  const { at, response } = await visit(form.at, { method: "POST", body });
  await response.body?.cancel();
  const known = await fetch(`${url}/api/session`, { headers: { cookie: cookie() }, dispatcher });
  if (!known.ok)
    throw new Error(`expected ${person.name} to be logged in, found them at ${at}: ${await known.text()}`);
  const { csrf } = (await known.json()) as { csrf: string };
  return {
    cookie: cookie(),
    csrf,
    fetch: (path, init = {}) =>
      fetch(`${url}${path}`, {
        ...init,
        dispatcher,
        headers: { cookie: cookie(), "x-denrei-csrf": csrf, ...(init.headers as Record<string, string>) },
      }),
  };
}
