/**
 * Removes credentials from texts. All foreign text (build logs, errors, responses) passes through here before it reaches a
 * status, an Event, a message on the bus, a log, or a comment on GitHub.
 */

const gone = "***";

/** A block without its end extends to the end of the text. */
const keyBlock = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
/** Characters of a token. A stateless one contains a JWT with its dots. */
const run = /[\w.-]+/g;
/** https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/, and tokens of registries and clouds. */
const token =
  /(?:gh[oprsu]|github_pat)_[\w.-]|npm_[A-Za-z0-9]{30}|glpat-[\w-]{20}|dckr_pat_[\w-]{20}|pypi-[\w-]{30}|xox[abeprs]-[\w-]{10}|AKIA[0-9A-Z]{16}/;
/** User and password of a URL: https://datatracker.ietf.org/doc/html/rfc3986#section-3.2.1 */
const userinfo = /(:\/\/)[^\s"'`<>@/?#\\]*@/g;
/** The header, including the notation of curl and JSON: https://datatracker.ietf.org/doc/html/rfc9110#section-11.6.2 */
const authorization =
  /(\b(?:proxy-)?authorization\\?["']?\s*[:=]\s*\\?["']?)((?:basic|bearer|token|digest|negotiate)\s+)?[^\s"'\\,]+/gi;
/** A variable, flag, or query parameter with the name of a credential. */
const assignment =
  /((?:password|passwd|secret|token|api_?key|access_?key|private_?key|credentials?)=)(?:"[^"]*"|'[^']*'|[^\s"'&;,]+)/gi;
/** Names of fields with a credential, including those of a Docker configuration. */
const fieldName = "(?:[\\w-]*(?:password|passwd|secret|token|api_?key|access_?key|private_?key)|auth)";
/** Such a field in JSON. */
const field = new RegExp(String.raw`(\\?"${fieldName}\\?"\s*:\s*\\?")[^"\\]+`, "gi");
/** Such a field, or the header, in an object. */
const credentialField = new RegExp(`^(?:${fieldName}|(?:proxy-)?authorization)$`, "i");
/** Whether any pattern may match: most texts have no credentials and need only this check. */
const suspicious =
  /gh[oprsu]_|github_pat_|npm_|glpat-|dckr_pat_|pypi-|xox|AKIA|eyJ|PRIVATE KEY|:\/\/[^\s/]*@|authorization|(?:password|passwd|secret|token|key|credentials?)=|(?:password|passwd|secret|token|key|auth)\\?"/i;

/**
 * Replaces everything that looks like a credential by `***`, whatever its length: user and password of URLs, tokens of GitHub
 * and of registries, JWTs, `Authorization` headers, PEM private keys, and values of variables and fields with secret names.
 * Text directly before a token stays; text directly after it is removed.
 */
export function redacted(text: string): string {
  if (!suspicious.test(text)) return text;
  return text
    .replace(keyBlock, gone)
    .replace(userinfo, `$1${gone}@`)
    .replace(authorization, `$1$2${gone}`)
    .replace(assignment, `$1${gone}`)
    .replace(field, `$1${gone}`)
    .replace(run, (word) => {
      const starts = [word.search(token), startOfJwt(word)].filter((at) => at >= 0);
      return starts.length === 0 ? word : `${word.slice(0, Math.min(...starts))}${gone}`;
    });
}

/** The index of `{"` in base64 if two dots follow it, or -1. The first match has the most dots after it. */
function startOfJwt(word: string): number {
  const at = word.indexOf("eyJ");
  return at >= 0 && word.slice(at).split(".").length > 2 ? at : -1;
}

/**
 * Redacts each text in a JSON value, and replaces whole texts in fields with secret names. Returns the same value if nothing
 * was replaced. A field `secret` is only redacted as text: in Kubernetes objects it names a Secret.
 */
export const redactedValue = <T>(value: T): T =>
  redactedIn(value, (name) => name !== "secret" && credentialField.test(name)) as T;

function redactedIn(value: unknown, isSecret: (name: string) => boolean, replaces = false): unknown {
  if (typeof value === "string") return replaces && value !== "" ? gone : redacted(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map((one) => redactedIn(one, isSecret, replaces));
    return all.some((one, at) => one !== value[at]) ? all : value;
  }
  const entries = Object.entries(value).map(
    ([name, one]) => [name, redactedIn(one, isSecret, isSecret(name))] as const,
  );
  const isSame = entries.every(([name, one]) => one === (value as Record<string, unknown>)[name]);
  return isSame ? value : Object.fromEntries(entries);
}

/** Redacts a line of JSON like {@link redactedValue}, including fields named `secret`. The result is always a line of JSON. */
export function redactedLine(line: string): string {
  if (!suspicious.test(line)) return line;
  try {
    return `${JSON.stringify(redactedIn(JSON.parse(line), (name) => credentialField.test(name)))}\n`;
  } catch {
    return redacted(line);
  }
}

/** Shorter values occur by chance. Characters. */
const shortestValue = 6;

/**
 * Replaces known secret values, including their base64 and URL-encoded forms, and then what {@link redacted} finds. Ignores
 * values of fewer than six characters, which would match in every text.
 */
export function redactorOf(values: Iterable<string>): (text: string) => string {
  const forms = [...values]
    .map((value) => value.trim())
    .filter((value) => value.length >= shortestValue)
    .flatMap((value) => [value, Buffer.from(value).toString("base64"), encodeURIComponent(value)]);
  // A value may be a part of another one.
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => redacted(longestFirst.reduce((all, form) => all.replaceAll(form, () => gone), text));
}
