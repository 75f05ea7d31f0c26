import { expect, test } from "vitest";
import {
  bits,
  booleanTrue,
  explicit,
  implicit,
  octets,
  oid,
  sequence,
  set,
  time,
  unsigned,
  utf8,
} from "./der.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const bytes = (text: string) => Buffer.from(text, "hex");

test("integers are positive and minimal in length", () => {
  expect(hex(unsigned(bytes("00")))).toBe("020100");
  expect(hex(unsigned(bytes("7f")))).toBe("02017f");
  expect(hex(unsigned(bytes("80")))).toBe("02020080");
  expect(hex(unsigned(bytes("0000ff01")))).toBe("020300ff01");
});

test("lengths take one byte up to 127, then as many as they need", () => {
  const header = (size: number) => hex(octets(Buffer.alloc(size))).slice(0, -2 * size);
  expect([127, 128, 255, 256, 65_535].map(header)).toEqual([
    "047f",
    "048180",
    "0481ff",
    "04820100",
    "0482ffff",
  ]);
});

test("object identifiers pack their first two numbers and spread large ones", () => {
  // ecdsa-with-SHA256 (RFC 5758) and basicConstraints (RFC 5280).
  expect(hex(oid("1.2.840.10045.4.3.2"))).toBe("06082a8648ce3d040302");
  expect(hex(oid("2.5.29.19"))).toBe("0603551d13");
});

test("times have two digits of the year until 2049 and four from 2050, as RFC 5280 demands", () => {
  expect(hex(time(new Date("2049-12-31T23:59:59.999Z")))).toBe(`170d${hex(Buffer.from("491231235959Z"))}`);
  expect(hex(time(new Date("2050-01-01T00:00:00Z")))).toBe(`180f${hex(Buffer.from("20500101000000Z"))}`);
});

test("other elements consist of a tag, a length, and the content", () => {
  expect(hex(booleanTrue())).toBe("0101ff");
  expect(hex(utf8("é"))).toBe("0c02c3a9");
  expect(hex(bits(bytes("80"), 7))).toBe("03020780");
  expect(hex(sequence(booleanTrue(), booleanTrue()))).toBe("30060101ff0101ff");
  expect(hex(set(booleanTrue()))).toBe("31030101ff");
  expect(hex(explicit(3, booleanTrue()))).toBe("a3030101ff");
  expect(hex(implicit(7, bytes("7f000001")))).toBe("87047f000001");
});
