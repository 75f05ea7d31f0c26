/** The login form: name and password. */
import { timingSafeEqual } from "node:crypto";
import { text } from "node:stream/consumers";
import type { Provider } from "oidc-provider";

/** A user who can log in. */
export interface Person {
  /** The user's name in Kubernetes. */
  readonly name: string;
  readonly password: string;
  readonly groups: readonly string[];
}

const page = (notice: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Log in</title>
<style>
  :root { color-scheme: light dark; font: 16px system-ui, sans-serif; }
  body { display: grid; place-items: center; min-height: 90vh; }
  form { display: grid; gap: 0.75rem; width: 18rem; }
  label { display: grid; gap: 0.25rem; }
  input, button { font: inherit; padding: 0.5rem; }
  p { margin: 0; color: #b3261e; }
</style></head>
<body><main><form method="post"><h1>Log in</h1>${notice && `<p role="alert">${notice}</p>`}
<label>Name <input name="name" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button></form></main></body></html>`;

/** Serves the login form; returns false for other requests. */
export async function loginPage(
  context: Parameters<Parameters<Provider["use"]>[0]>[0],
  provider: Provider,
  people: readonly Person[],
): Promise<boolean> {
  if (!context.path.startsWith("/login/")) return false;
  const { req, res } = context;
  await provider.interactionDetails(req, res);
  if (context.method !== "POST") {
    context.body = page("");
    return true;
  }
  const form = new URLSearchParams(await text(req));
  const person = people.find(({ name }) => name === form.get("name"));
  if (person === undefined || !isSame(person.password, form.get("password") ?? "")) {
    context.status = 401;
    context.body = page("Wrong name or password.");
    return true;
  }
  context.respond = false;
  await provider.interactionFinished(req, res, { login: { accountId: person.name } });
  return true;
}

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
