/** The few ASN.1 DER types (ITU-T X.690) that a certificate consists of. */

const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

function element(tagByte: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tagByte]), length(body.length), body]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const digits = bytes < 0x100 ? [bytes] : [bytes >> 8, bytes & 0xff];
  return Buffer.from([0x80 | digits.length, ...digits]);
}

/** SEQUENCE of the given elements. */
export const sequence = (...elements: Uint8Array[]): Buffer => element(tag.sequence, ...elements);

/** SET of the given elements, which the caller must sort. */
export const set = (...elements: Uint8Array[]): Buffer => element(tag.set, ...elements);

export const octets = (content: Uint8Array): Buffer => element(tag.octetString, content);

export const utf8 = (text: string): Buffer => element(tag.utf8String, Buffer.from(text));

export const booleanTrue = (): Buffer => element(tag.boolean, Buffer.from([0xff]));

/** INTEGER from its big-endian bytes, read as unsigned. */
export function unsigned(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start === -1 ? Uint8Array.of(0) : bytes.subarray(start);
  // Without a leading zero, a set highest bit would be read as the sign.
  return element(tag.integer, (digits[0] ?? 0) & 0x80 ? Uint8Array.of(0) : Uint8Array.of(), digits);
}

/** BIT STRING; the last `unused` bits of the last byte do not count. */
export const bits = (content: Uint8Array, unused = 0): Buffer =>
  element(tag.bitString, Uint8Array.of(unused), content);

/** OBJECT IDENTIFIER from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(tag.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

/** Time (RFC 5280) in UTC, with a resolution of a second: UTCTime with two digits of the year until 2049, as the RFC requires. */
export function time(date: Date): Buffer {
  const digits = `${date.toISOString().replace(/[-:T]|\.\d+Z$/g, "")}Z`;
  return date.getUTCFullYear() < 2050
    ? element(tag.utcTime, Buffer.from(digits.slice(2)))
    : element(tag.generalizedTime, Buffer.from(digits));
}

/** Context-specific tag around elements. */
export const explicit = (number: number, ...elements: Uint8Array[]): Buffer =>
  element(0xa0 | number, ...elements);

/** Context-specific tag that replaces the tag of a primitive element. */
export const implicit = (number: number, content: Uint8Array): Buffer => element(0x80 | number, content);
