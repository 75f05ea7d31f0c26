/** Base64 as Go reads it: https://pkg.go.dev/encoding/base64#StdEncoding */

/** Whether Go can decode text: with the padding, in the usual alphabet, and in as many lines as it likes. */
export function isBase64(text: string): boolean {
  const joined = text.replaceAll(/[\r\n]/g, "");
  return joined.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(joined);
}
