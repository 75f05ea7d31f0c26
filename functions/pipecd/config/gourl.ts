/** Parses URLs like Go: https://pkg.go.dev/net/url#Parse */
import { isIPv6 } from "node:net";

/** The parts of a URL that PipeCD uses. */
export interface Address {
  readonly scheme: string;
  /** With brackets around an IPv6 address. */
  readonly host: string;
  /** Digits, or empty. */
  readonly port: string;
}

const parts =
  /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(?:[A-Za-z0-9._~!$&'()*+,;=:@%-]*@)?([^/?#:[\]@%\s{}|\\^`<>"]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]*))?(?:[/?#].*)?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Go rejects control characters in URLs
const never = /[\x00-\x20\x7f]|%(?![0-9A-Fa-f]{2})/;

const eitherOf = (names: readonly string[]): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format(names);

/** The parts of a URL with a scheme and a host; undefined for other text. */
export function addressIn(text: string): Address | undefined {
  const [matched, scheme = "", host = "", port = ""] = parts.exec(text) ?? [];
  if (matched === undefined || never.test(text)) return undefined;
  if (host.startsWith("[") && !isIPv6(host.slice(1, -1))) return undefined;
  return { scheme: scheme.toLowerCase(), host, port };
}

/** Why a URL is invalid for HTTP requests; undefined if it is valid. `more` are further allowed schemes. */
export function urlProblem(text: string, ...more: readonly string[]): string | undefined {
  const schemes = ["http", "https", ...more];
  const { scheme = "", port = "" } = addressIn(text) ?? {};
  if (schemes.includes(scheme) && Number(port) <= 65_535) return undefined;
  return `expected an address that starts with ${eitherOf(schemes.map((one) => `${one}://`))}, found "${text}"`;
}
