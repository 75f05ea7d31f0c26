import type { LookupAddress, LookupOptions, lookup } from "node:dns";
import { expect, test } from "vitest";
import { isReachable, lookupWithin } from "./addresses.ts";

test.each([
  "0.0.0.0",
  "127.0.0.1",
  "127.8.8.8",
  "169.254.169.254",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:a9fe:a9fe",
  "fe80::1",
  "ff02::1",
  "no address",
])("no connection is made to %s", (address) => {
  expect(isReachable(address, "public")).toBe(false);
  expect(isReachable(address, "private")).toBe(false);
});

test.each(["10.0.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"])(
  "%s is only for names that an operator has given",
  (address) => {
    expect(isReachable(address, "public")).toBe(false);
    expect(isReachable(address, "private")).toBe(true);
  },
);

test.each(["140.82.121.3", "172.32.0.1", "2606:50c0:8000::153", "::ffff:140.82.121.3"])(
  "%s is public",
  (address) => {
    expect(isReachable(address, "public")).toBe(true);
  },
);

const answering = (...addresses: string[]) =>
  ((_: string, __: LookupOptions, callback: (error: null, found: LookupAddress[]) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    )) as unknown as typeof lookup;

const resolved = (all: boolean, ...addresses: string[]) =>
  new Promise<unknown>((resolve) =>
    lookupWithin("public", answering(...addresses))("github.com", { all }, (error, address) =>
      resolve(error ?? address),
    ),
  );

test("connects to the allowed addresses of a name", async () => {
  expect(await resolved(true, "127.0.0.1", "140.82.121.3")).toEqual([{ address: "140.82.121.3", family: 4 }]);
  expect(await resolved(false, "10.0.0.1", "2606:50c0:8000::153")).toBe("2606:50c0:8000::153");
});

test("does not connect to a name without an allowed address", async () => {
  for (const all of [true, false])
    expect(await resolved(all, "127.0.0.1", "::1")).toMatchObject({ name: "AddressNotAllowedError" });
});
