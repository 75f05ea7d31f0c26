/** Whether Go can decode text: standard alphabet, with padding, line breaks ignored. https://pkg.go.dev/encoding/base64#StdEncoding */
export function isBase64(text: string): boolean {
  const joined = text.replaceAll(/[\r\n]/g, "");
  return joined.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(joined);
}
