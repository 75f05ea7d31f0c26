/** The cookies: while somebody logs in or connects GitHub, and for the session. All are sealed, and no script can read them. */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { z } from "zod";
import type { Key } from "./keys.ts";
import { type Sealer, sealer } from "./sealer.ts";

interface Ground {
  /** Where browsers reach the dashboard. */
  readonly url: string;
  readonly keys: () => readonly Key[];
}

const briefSeconds = 600;

const loginSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Where the browser goes afterwards: a path. */
  to: z.string(),
  /** Milliseconds since the epoch. */
  endsAt: z.number(),
});
/** What a browser keeps while somebody logs in. */
export type LoginCookie = Omit<z.infer<typeof loginSchema>, "endsAt">;

const githubSchema = loginSchema.omit({ nonce: true }).extend({
  /** The session that has begun it: in no other one it can be finished. */
  session: z.string(),
});
/** What a browser keeps while somebody connects GitHub. */
export type GitHubCookie = Omit<z.infer<typeof githubSchema>, "endsAt">;

const sessionSchema = z.object({ id: z.string() });

/**
 * A name that only this host over TLS can set, so that no other site of the domain can put its own there (`__Host-`, RFC 6265bis).
 * On one's own machine there is no TLS.
 */
const attributes = ({ url }: Pick<Ground, "url">, name: string) => {
  const secure = url.startsWith("https:");
  return [
    `${secure ? "__Host-" : ""}denrei-${name}`,
    { path: "/", httpOnly: true, secure, sameSite: "Lax" },
  ] as const;
};

/** A cookie of one schema. What it is for is part of its key: one put in the other's place is none. */
function sealedCookie<T>(name: string, schema: z.ZodType<T>) {
  const sealing = ({ keys }: Ground): Sealer => sealer(keys, { name: `cookie ${name}` });
  async function set(c: Context, ground: Ground, value: T, maxAge?: number): Promise<void> {
    const [full, options] = attributes(ground, name);
    const sealed = await sealing(ground).seal(JSON.stringify(value));
    setCookie(c, full, sealed, { ...options, ...(maxAge !== undefined && { maxAge }) });
  }
  return {
    set,
    async read(c: Context, ground: Ground): Promise<T | undefined> {
      const opened = await sealing(ground).open(getCookie(c, attributes(ground, name)[0]) ?? "");
      return opened && schema.safeParse(JSON.parse(opened.text)).data;
    },
    /** Seals one anew that an older key has sealed: it outlives that key. */
    async renew(c: Context, ground: Ground): Promise<void> {
      const opened = await sealing(ground).open(getCookie(c, attributes(ground, name)[0]) ?? "");
      if (opened?.by === "older") await set(c, ground, schema.parse(JSON.parse(opened.text)));
    },
    clear(c: Context, ground: Ground): void {
      const [full, options] = attributes(ground, name);
      deleteCookie(c, full, options);
    },
  };
}

/** A cookie that can be used for ten minutes. */
function briefCookie<T extends { readonly endsAt: number }>(name: string, schema: z.ZodType<T>) {
  const cookie = sealedCookie(name, schema);
  return {
    set: (c: Context, ground: Ground, value: Omit<T, "endsAt">) =>
      cookie.set(c, ground, { ...value, endsAt: Date.now() + briefSeconds * 1000 } as T, briefSeconds),
    async read(c: Context, ground: Ground): Promise<T | undefined> {
      const found = await cookie.read(c, ground);
      return found && found.endsAt > Date.now() ? found : undefined;
    },
    clear: cookie.clear,
  };
}

/** The cookie of a login that has begun. */
export const loginCookie = briefCookie("login", loginSchema);

/** The cookie of a connection to GitHub that has begun. */
export const githubCookie = briefCookie("github", githubSchema);

/** The cookie of a session: its name on the bus. It goes with the browser. */
export const sessionCookie = sealedCookie("session", sessionSchema);
