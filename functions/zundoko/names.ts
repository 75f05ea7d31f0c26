/** Names that others know: the group, annotations, and how words are numbered. */

export const group = "zundokokiyoshi.kaitoy.github.com";
export const version = "v1beta1";

/** When a word was said, to the millisecond: creation times have whole seconds. RFC 3339. */
export const saidAtAnnotation = `${group}/said-at`;
/** Which replica said it. */
export const saidByAnnotation = `${group}/said-by`;

/** The name of a word, behind that of its Hikawa. */
export const wordSuffix = (number: number): string => `zundoko-${String(number).padStart(3, "0")}`;

/** The number of a word by its name; undefined where it is none that a Hikawa said. */
export function numberOf(name: string): number | undefined {
  const digits = /-zundoko-(\d{3,})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
