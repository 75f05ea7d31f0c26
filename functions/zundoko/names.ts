/** API group, annotations, and numbering of words. */

export const group = "zundokokiyoshi.kaitoy.github.com";
export const version = "v1beta1";

/** Time of a word with milliseconds: creation times only have seconds. RFC 3339. */
export const saidAtAnnotation = `${group}/said-at`;
/** Name of the replica that said the word. */
export const saidByAnnotation = `${group}/said-by`;

/** Suffix of a word's name, after the name of its Hikawa. */
export const wordSuffix = (number: number): string => `zundoko-${String(number).padStart(3, "0")}`;

/** The number in a word's name; undefined if the name has none. */
export function numberOf(name: string): number | undefined {
  const digits = /-zundoko-(\d{3,})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
