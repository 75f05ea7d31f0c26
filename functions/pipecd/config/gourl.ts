/** Addresses as Go reads them: https://pkg.go.dev/net/url#Parse */
import { isIPv6 } from "node:net";

/** The parts that PipeCD looks at. */
export interface Address {
  readonly scheme: string;
  /** An IPv6 address is in brackets. */
  readonly host: string;
  /** Digits, or empty. */
  readonly port: string;
}

const parts =
  /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(?:[A-Za-z0-9._~!$&'()*+,;=:@%-]*@)?([^/?#:[\]@%\s{}|\\^`<>"]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]*))?(?:[/?#].*)?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Go's URLs have none of them
const never = /[\x00-\x20\x7f]|%(?![0-9A-Fa-f]{2})/;

/** The parts of an address with a scheme and a host; undefined for anything else. */
export function addressIn(text: string): Address | undefined {
  const [matched, scheme = "", host = "", port = ""] = parts.exec(text) ?? [];
  if (matched === undefined || never.test(text)) return undefined;
  if (host.startsWith("[") && !isIPv6(host.slice(1, -1))) return undefined;
  return { scheme: scheme.toLowerCase(), host, port };
}

/** Why an address of something that is asked over HTTP cannot be used; undefined where it can. */
export function urlProblem(text: string, ...more: readonly string[]): string | undefined {
  const schemes = ["http", "https", ...more];
  const { scheme = "", port = "" } = addressIn(text) ?? {};
  if (schemes.includes(scheme) && Number(port) <= 65_535) return undefined;
  return `expected an address that begins with ${schemes.map((one) => `${one}://`).join(" or ")}, found "${text}"`;
}
