/** The two cookies: one while somebody logs in, and one for the session. Both are sealed, and no script can read them. */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { z } from "zod";
import type { Parts } from "../env.ts";

type Ground = Pick<Parts, "url" | "cookies">;

const loginSeconds = 600;

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

const login = sealedCookie("login", loginSchema);

/** The cookie of a login that has begun: it can be used for ten minutes. */
export const loginCookie = {
  set: (c: Context, ground: Ground, value: LoginCookie) =>
    login.set(c, ground, { ...value, endsAt: Date.now() + loginSeconds * 1000 }, loginSeconds),
  async read(c: Context, ground: Ground): Promise<LoginCookie | undefined> {
    const found = await login.read(c, ground);
    return found && found.endsAt > Date.now() ? found : undefined;
  },
  clear: login.clear,
};

/** The cookie of a session: its name on the bus. It goes with the browser. */
export const sessionCookie = sealedCookie("session", sessionSchema);
