/** HTML pages of the simulated GitHub. */
import type { ApiAnswer } from "./call.ts";

/** Escapes text for HTML. */
export const escaped = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (found) => `&#${found.codePointAt(0)};`);

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 40rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
  form, fieldset { display: grid; gap: 0.75rem; justify-items: start; }
  input[name="name"] { width: 100%; box-sizing: border-box; }
  button, input, select { font: inherit; }
  .quiet { opacity: 0.75; }`;

/** A page that names itself a simulator. `body` is HTML. */
export const page = (status: number, body: string): ApiAnswer => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8" },
  body: `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Simulated GitHub</title><style>${style}</style><p class="quiet">Simulated GitHub</p>${body}</html>`,
});

/** A page with a heading and one sentence. */
export const messagePage = (status: number, title: string, message: string): ApiAnswer =>
  page(status, `<h1>${escaped(title)}</h1><p>${escaped(message)}</p>`);

/** A redirect of the browser. */
export const redirect = (location: string): ApiAnswer => ({ status: 302, headers: { location }, body: "" });

/** Hidden inputs of a form. */
export const hiddenInputs = (values: Iterable<readonly [name: string, value: string]>): string =>
  [...values]
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join("");
