/** The cookies: while somebody logs in or connects GitHub, and for the session. All are sealed, and no script can read them. */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { z } from "zod";
import type { Parts } from "../env.ts";

type Ground = Pick<Parts, "url" | "cookies">;

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

const githubSchema = loginSchema.omit({ nonce: true });
/** What a browser keeps while somebody connects GitHub. */
export type GitHubCookie = Omit<z.infer<typeof githubSchema>, "endsAt">;

const sessionSchema = z.object({ id: z.string() });

/**
 * A name that only this host over TLS can set, so that no other site of the domain can put its own there (`__Host-`, RFC 6265bis).
 * On one's own machine there is no TLS.
 */
const attributes = ({ url }: Ground, name: string) => {
  const secure = url.startsWith("https:");
  return [
    `${secure ? "__Host-" : ""}denrei-${name}`,
    { path: "/", httpOnly: true, secure, sameSite: "Lax" },
  ] as const;
};

/** A cookie of one schema. */
function sealedCookie<T>(name: string, schema: z.ZodType<T>) {
  return {
    async set(c: Context, ground: Ground, value: T, maxAge?: number): Promise<void> {
      const [full, options] = attributes(ground, name);
      const sealed = await ground.cookies.seal(JSON.stringify(value));
      setCookie(c, full, sealed, { ...options, ...(maxAge !== undefined && { maxAge }) });
    },
    async read(c: Context, ground: Ground): Promise<T | undefined> {
      const sealed = getCookie(c, attributes(ground, name)[0]);
      const text = sealed === undefined ? undefined : await ground.cookies.open(sealed);
      return text === undefined ? undefined : schema.safeParse(JSON.parse(text)).data;
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
