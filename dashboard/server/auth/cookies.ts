/** The cookies: for a login, for connecting a GitHub account, and for the session. All are encrypted and invisible to scripts. */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { z } from "zod";
import type { Key } from "./keys.ts";
import { type Sealer, sealer } from "./sealer.ts";

interface CookieContext {
  /** Public URL of the dashboard. */
  readonly url: string;
  readonly keys: () => readonly Key[];
}

const pendingSeconds = 600;

const loginSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Path to redirect to afterwards. */
  to: z.string(),
  /** Milliseconds since the epoch. */
  endsAt: z.number(),
});
/** State of a login, kept in the browser until it is finished. */
export type LoginCookie = Omit<z.infer<typeof loginSchema>, "endsAt">;

const githubSchema = loginSchema.omit({ nonce: true }).extend({
  /** The session that started the connection. Only that session can finish it. */
  session: z.string(),
});
/** State of a GitHub connection, kept in the browser until it is finished. */
export type GitHubCookie = Omit<z.infer<typeof githubSchema>, "endsAt">;

const sessionSchema = z.object({ id: z.string() });

/**
 * With TLS the name has the prefix `__Host-` (RFC 6265bis): no other host of the domain can set such a cookie. A local dashboard has
 * no TLS and no prefix.
 */
const attributes = ({ url }: Pick<CookieContext, "url">, name: string) => {
  const secure = url.startsWith("https:");
  return [
    `${secure ? "__Host-" : ""}denrei-${name}`,
    { path: "/", httpOnly: true, secure, sameSite: "Lax" },
  ] as const;
};

/** An encrypted cookie. Its purpose is part of the key, so a login cookie is not accepted as a session cookie. */
function sealedCookie<T>(name: string, schema: z.ZodType<T>) {
  const sealing = ({ keys }: CookieContext): Sealer => sealer(keys, { name: `cookie ${name}` });
  async function set(c: Context, context: CookieContext, value: T, maxAge?: number): Promise<void> {
    const [full, options] = attributes(context, name);
    const sealed = await sealing(context).seal(JSON.stringify(value));
    setCookie(c, full, sealed, { ...options, ...(maxAge !== undefined && { maxAge }) });
  }
  return {
    set,
    async read(c: Context, context: CookieContext): Promise<T | undefined> {
      const opened = await sealing(context).open(getCookie(c, attributes(context, name)[0]) ?? "");
      return opened && schema.safeParse(JSON.parse(opened.text)).data;
    },
    /** Encrypts the cookie again if an older key encrypted it, so that it stays valid when that key is removed. */
    async renew(c: Context, context: CookieContext): Promise<void> {
      const opened = await sealing(context).open(getCookie(c, attributes(context, name)[0]) ?? "");
      if (opened?.by === "older") await set(c, context, schema.parse(JSON.parse(opened.text)));
    },
    clear(c: Context, context: CookieContext): void {
      const [full, options] = attributes(context, name);
      deleteCookie(c, full, options);
    },
  };
}

/** A cookie that is valid for ten minutes. */
function pendingCookie<T extends { readonly endsAt: number }>(name: string, schema: z.ZodType<T>) {
  const cookie = sealedCookie(name, schema);
  return {
    set: (c: Context, context: CookieContext, value: Omit<T, "endsAt">) =>
      cookie.set(c, context, { ...value, endsAt: Date.now() + pendingSeconds * 1000 } as T, pendingSeconds),
    async read(c: Context, context: CookieContext): Promise<T | undefined> {
      const found = await cookie.read(c, context);
      return found && found.endsAt > Date.now() ? found : undefined;
    },
    clear: cookie.clear,
  };
}

/** The cookie of a login in progress. */
export const loginCookie = pendingCookie("login", loginSchema);

/** The cookie of a GitHub connection in progress. */
export const githubCookie = pendingCookie("github", githubSchema);

/** The cookie of a session: the session's ID on the bus. The browser drops it when it closes. */
export const sessionCookie = sealedCookie("session", sessionSchema);
