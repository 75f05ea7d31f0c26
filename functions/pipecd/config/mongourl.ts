/** Validates MongoDB connection strings: https://www.mongodb.com/docs/manual/reference/connection-string */

const expected = "expected mongodb://user:password@host:port/";

/** Why PipeCD cannot use a connection string; undefined if it can. Values of options are not checked. */
export function mongoProblem(url: string): string | undefined {
  const [, rest] = /^mongodb(?:\+srv)?:\/\/(.*)$/s.exec(url) ?? [];
  if (rest === undefined) return `${expected}, found no mongodb:// at the start`;
  const at = rest.indexOf("@");
  const user = at < 0 ? "" : rest.slice(0, at);
  const [name = "", password = "", ...more] = user.split(":");
  if (more.length > 0 || [name, password].some((part) => part.includes("/") || !isEscaped(part)))
    return `${expected} with %3A, %2F, %40, and %25 for : / @ and % in user and password`;
  const [, hosts = "", separator = "", options = ""] =
    /^([^/?@]*)(\/[^?]*|[?@]|)(.*)$/s.exec(rest.slice(at + 1)) ?? [];
  if (separator === "@") return `${expected} with %40 for @ in the password`;
  if (separator === "?") return `${expected}?option=value: a / is missing before the ?`;
  if (!isEscaped(separator)) return `${expected} with a percent-encoded database name`;
  const wrong = hosts
    .split(",")
    .filter((host) => host !== "")
    .find((host) => !isHost(host));
  if (wrong !== undefined) return `expected host:port with a port from 1 to 65535, found "${wrong}"`;
  if (hosts.replaceAll(",", "") === "") return `${expected}, found no host`;
  const pairs = options
    .slice(1)
    .split(/[&;]/)
    .filter((pair) => pair !== "");
  const odd = pairs.find((pair) => !/^[^=]+=/.test(pair) || !isEscaped(pair));
  return odd === undefined ? undefined : `expected option=value after the ?, found "${odd}"`;
}

const isEscaped = (text: string): boolean => !/%(?![0-9A-Fa-f]{2})/.test(text);

function isHost(text: string): boolean {
  const [, host = "", port] = /^(\[[^[\]]*\]|[^:[\]]*)(?::(.*))?$/s.exec(text) ?? [];
  return (
    host !== "" &&
    isEscaped(host) &&
    (!port || (/^[0-9]+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535))
  );
}
