/** Network access of functions, and the check of its declaration. */
import { isIP } from "node:net";

/** Network access besides the API server and the bus. Network policies block everything else. */
export interface Outbound {
  /** GitHub: port 443 of any public address. */
  readonly github?: boolean;
  /**
   * TCP ports of any public address; `true` for port 443. Private and link-local addresses, where clouds serve credentials, stay
   * blocked.
   */
  readonly internet?: boolean | { readonly ports: readonly number[] };
  /**
   * TCP ports of addresses, such as a database outside the cluster: `{ cidr: "10.20.0.0/16", ports: [5432] }`. A larger range than
   * the link-local one does not include it. Whether an address of a pod or a Service matches depends on the network.
   */
  readonly cidrs?: readonly OutboundCidr[];
  /** These TCP ports of pods, in any namespace: numbers, or names of container ports. */
  readonly podPorts?: readonly (number | string)[];
}

/** TCP ports of the addresses in a CIDR. */
export interface OutboundCidr {
  /** IPv4 or IPv6: `192.0.2.7/32`, `2001:db8::/32`. */
  readonly cidr: string;
  readonly ports: readonly number[];
}

/** Ports of the internet that a function reaches; none without a declaration. */
export const internetPorts = ({ internet }: Outbound): readonly number[] => {
  if (internet === undefined || internet === false) return [];
  return internet === true ? [443] : internet.ports;
};

/** Checks a declaration. Throws a `TypeError` that names the field, what it has to be, and what it is. */
export function checkOutbound(fn: string, outbound: Outbound): void {
  const { internet, cidrs = [], podPorts } = outbound;
  if (typeof internet === "object") checkPorts(fn, "internet.ports", internetPorts(outbound), isPort);
  for (const [at, { cidr, ports }] of cidrs.entries()) {
    const problem = problemOfCidr(cidr);
    if (problem !== undefined)
      throw new TypeError(
        `outbound.cidrs[${at}].cidr of "${fn}" must be an address and the length of a prefix, such as 10.0.0.0/8: ` +
          `"${cidr}" ${problem}`,
      );
    checkPorts(fn, `cidrs[${at}].ports`, ports, isPort);
  }
  if (podPorts !== undefined)
    checkPorts(fn, "podPorts", podPorts, (port) => isPort(port) || isPortName(port));
}

/** A policy without ports would allow all of them. */
function checkPorts(
  fn: string,
  field: string,
  ports: readonly unknown[],
  isValid: (port: unknown) => boolean,
): void {
  const expected =
    field === "podPorts" ? "ports from 1 to 65535, or names of ports" : "ports from 1 to 65535";
  const wrong = ports.find((port) => !isValid(port));
  if (ports.length > 0 && wrong === undefined) return;
  throw new TypeError(
    `outbound.${field} of "${fn}" must list ${expected}, found ${ports.length === 0 ? "none" : JSON.stringify(wrong)}`,
  );
}

const isPort = (port: unknown): boolean =>
  typeof port === "number" && Number.isInteger(port) && port >= 1 && port <= 65_535;

/** `IsValidPortName` of k8s.io/apimachinery. */
const isPortName = (port: unknown): boolean =>
  typeof port === "string" && /^(?=.*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$/.test(port);

function problemOfCidr(cidr: string): string | undefined {
  const [address = "", length = "", ...more] = cidr.split("/");
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return "has no IPv4 or IPv6 address";
  const bits = version === 4 ? 32 : 128;
  if (more.length > 0 || !/^(0|[1-9][0-9]{0,2})$/.test(length) || Number(length) > bits)
    return `needs a prefix of 0 to ${bits} bits`;
  const rest = BigInt(bits - Number(length));
  if ((numberOf(address) >> rest) << rest !== numberOf(address)) return "has bits beyond its prefix";
  return undefined;
}

/** The address as a number. */
function numberOf(address: string): bigint {
  if (isIP(address) === 4)
    return address.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
  // In the canonical form, which has no IPv4 notation.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const zeros = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  return [...groups(head), ...Array<string>(zeros).fill("0"), ...groups(tail ?? "")].reduce(
    (value, group) => (value << 16n) | BigInt(`0x${group}`),
    0n,
  );
}
