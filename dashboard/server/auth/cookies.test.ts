import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import { expect, test, vi } from "vitest";
import { loginCookie, sessionCookie } from "./cookies.ts";
import type { Key } from "./keys.ts";
import { sealer } from "./sealer.ts";

const newKey = (id: string): Key => ({ id, secret: new Uint8Array(randomBytes(32)) });
const key = newKey("a");
const login = { state: "s".repeat(43), nonce: "n".repeat(43), verifier: "v".repeat(43), to: "/applications" };

/** A server that sets, reads, and clears the cookies. */
function serve(url: string, keys: () => readonly Key[] = () => [key]) {
  const context = { url, keys };
  const app = new Hono();
  app.get("/session/set", async (c) => {
    await sessionCookie.set(c, context, { id: "an id" });
    return c.text("");
  });
  app.get("/login/set", async (c) => {
    await loginCookie.set(c, context, { ...login, to: c.req.query("to") ?? login.to });
    return c.text("");
  });
  app.get("/session/clear", (c) => {
    sessionCookie.clear(c, context);
    return c.text("");
  });
  app.get("/session/renew", async (c) => {
    await sessionCookie.renew(c, context);
    return c.text("");
  });
  app.get("/session", async (c) => c.json((await sessionCookie.read(c, context)) ?? null));
  app.get("/login", async (c) => c.json((await loginCookie.read(c, context)) ?? null));
  return {
    async set(path: string) {
      const line = (await app.request(path)).headers.get("set-cookie") ?? "";
      const [pair = "", ...attributes] = line.split("; ");
      const [name = "", value = ""] = pair.split("=");
      return { name, value, attributes: attributes.sort() };
    },
    ask: async (path: string, cookie: string) => app.request(path, { headers: { cookie } }),
    read: async (path: string, cookie: string) => (await app.request(path, { headers: { cookie } })).json(),
  };
}

test("with TLS, only this host can set the cookies, and scripts cannot read them", async () => {
  const { set } = serve("https://denrei.example.com");
  const session = await set("/session/set");
  expect(session.name).toBe("__Host-denrei-session");
  expect(session.attributes).toEqual(["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
  const pending = await set("/login/set");
  expect(pending.name).toBe("__Host-denrei-login");
  expect(pending.attributes).toEqual(["HttpOnly", "Max-Age=600", "Path=/", "SameSite=Lax", "Secure"]);
  const cleared = await set("/session/clear");
  expect(cleared).toEqual({
    name: "__Host-denrei-session",
    value: "",
    attributes: ["HttpOnly", "Max-Age=0", "Path=/", "SameSite=Lax", "Secure"],
  });
});

test("a local dashboard can use cookies without TLS", async () => {
  const { set } = serve("http://127.0.0.1:8090");
  const session = await set("/session/set");
  expect(session.name).toBe("denrei-session");
  expect(session.attributes).toEqual(["HttpOnly", "Path=/", "SameSite=Lax"]);
});

test("does not accept a cookie under another name", async () => {
  const { set, read } = serve("http://127.0.0.1:8090");
  const [session, pending] = [await set("/session/set"), await set("/login/set")];
  expect(await read("/session", `denrei-session=${session.value}`)).toEqual({ id: "an id" });
  expect(await read("/login", `denrei-login=${pending.value}`)).toMatchObject(login);
  expect(await read("/session", `denrei-session=${pending.value}`)).toBeNull();
  expect(await read("/login", `denrei-login=${session.value}`)).toBeNull();
  // Not even with the same content.
  const of = (name: string) => sealer(() => [key], { name }).seal(JSON.stringify({ id: "forged" }));
  expect(await read("/session", `denrei-session=${await of("cookie session")}`)).toEqual({ id: "forged" });
  expect(await read("/session", `denrei-session=${await of("cookie login")}`)).toBeNull();
});

test("a cookie that an older key encrypted is encrypted again, and outlives that key", async () => {
  const url = "http://127.0.0.1:8090";
  const cookie = `denrei-session=${(await serve(url).set("/session/set")).value}`;
  expect((await serve(url).ask("/session/renew", cookie)).headers.get("set-cookie")).toBeNull();
  const newest = newKey("b");
  const renewed = (await serve(url, () => [newest, key]).ask("/session/renew", cookie)).headers;
  const [renewedCookie = ""] = (renewed.get("set-cookie") ?? "").split(";");
  expect(await serve(url, () => [newest]).read("/session", renewedCookie)).toEqual({ id: "an id" });
  expect(await serve(url, () => [newest]).read("/session", cookie)).toBeNull();
});

test("a login must finish within ten minutes", async () => {
  const { set, read } = serve("http://127.0.0.1:8090");
  const cookie = `denrei-login=${(await set("/login/set")).value}`;
  const now = Date.now();
  const clock = vi.spyOn(Date, "now");
  try {
    clock.mockReturnValue(now + 599_000);
    expect(await read("/login", cookie)).toMatchObject(login);
    clock.mockReturnValue(now + 601_000);
    expect(await read("/login", cookie)).toBeNull();
  } finally {
    clock.mockRestore();
  }
});

test("both cookies are much smaller than the limits of browsers", async () => {
  const { set } = serve("https://denrei.example.com");
  expect((await set("/session/set")).value.length).toBeLessThan(300);
  expect((await set(`/login/set?to=/${"a".repeat(999)}`)).value.length).toBeLessThan(2500);
});
