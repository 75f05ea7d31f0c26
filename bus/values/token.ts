/** Encodes values as tokens of subjects, and decodes them. */

const plain = /^[A-Za-z0-9-][A-Za-z0-9_-]*$/;
const encoder = new TextEncoder();
/** A byte order mark is an ordinary character here. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Encodes a value as one subject token, reversibly: letters, digits, `-`, and `_` stay, every other byte becomes
 * `=` and two hex digits, and the empty value becomes `_` (so a leading underscore is escaped).
 * Throws a `RangeError` on half a surrogate pair: UTF-8 has no bytes for it, and two such values would share a token.
 */
export function token(value: string): string {
  if (plain.test(value)) return value;
  if (value === "") return "_";
  if (!value.isWellFormed()) throw new RangeError(`expected Unicode text, found ${JSON.stringify(value)}`);
  let out = "";
  for (const byte of encoder.encode(value)) {
    const char = String.fromCharCode(byte);
    const keep = /[A-Za-z0-9-]/.test(char) || (char === "_" && out !== "");
    out += keep ? char : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return out;
}

/** Decodes a token. Throws a `RangeError` on text that {@link token} cannot have produced. */
export function untoken(text: string): string {
  if (text === "_") return "";
  if (plain.test(text)) return text;
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== "=") {
      bytes.push(text.charCodeAt(at));
      continue;
    }
    const hex = text.slice(at + 1, at + 3);
    if (!/^[0-9A-F]{2}$/.test(hex)) {
      throw new RangeError(`expected "=" and two upper-case hex digits in the subject token "${text}"`);
    }
    bytes.push(Number.parseInt(hex, 16));
    at += 2;
  }
  const value = decoded(bytes);
  // One value must have one token, or one object would have two subjects that do not conflict.
  if (value === undefined || token(value) !== text)
    throw new RangeError(`expected a canonical subject token, found "${text}"`);
  return value;
}

function decoded(bytes: readonly number[]): string | undefined {
  try {
    return decoder.decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}
