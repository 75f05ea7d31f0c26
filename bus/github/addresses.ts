/**
 * Addresses to which calls to GitHub may connect. They are checked during the connection, after the name was resolved: a second
 * lookup may return a different address.
 */
import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** `public` for GitHub's own servers; `private` for servers that an operator has allowed, which may be in the same network. */
export type Reach = "public" | "private";

/** Special-purpose addresses: https://www.iana.org/assignments/iana-ipv4-special-registry, -ipv6-special-registry */
const nobodys = listOf(
  ["0.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
);
const privates = listOf(
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["fc00::", 7],
  ["64:ff9b::", 96],
);

function listOf(...subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets)
    list.addSubnet(address, prefix, isIP(address) === 6 ? "ipv6" : "ipv4");
  return list;
}

/** Whether a connection to a resolved IP address is allowed. */
export function isReachable(address: string, reach: Reach): boolean {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  if (isIP(address) === 0 || nobodys.check(address, family)) return false;
  return reach === "private" || !privates.check(address, family);
}

/** A name resolves to no allowed address. */
export class AddressNotAllowedError extends Error {
  override readonly name = "AddressNotAllowedError";
}

/** Resolves names for connections, to allowed addresses. */
export const lookupWithin =
  (reach: Reach, resolve: typeof lookup = lookup): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, "", 0);
      const allowed = addresses.filter(({ address }) => isReachable(address, reach));
      const [first] = allowed;
      if (first === undefined)
        return callback(
          new AddressNotAllowedError(
            `${hostname} has no allowed ${reach === "public" ? "public " : ""}address`,
          ),
          "",
          0,
        );
      if (options.all) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };
