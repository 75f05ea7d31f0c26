/** Upper and lower case, as JavaScript's regular expressions compare them. RE2 folds other letters beyond ASCII. */

/** What the flag `i` compares without the flag `u`: the upper case of a character, unless it has several or only that is ASCII. */
function folded(code: number): number {
  const upper = String.fromCharCode(code).toUpperCase();
  const to = upper.charCodeAt(0);
  return upper.length > 1 || (code > 0x7f && to <= 0x7f) ? code : to;
}

let alike: ReadonlyMap<number, readonly number[]> | undefined;

/** All characters that the flag `i` takes for this one, itself among them. */
export function sameLetters(code: number): readonly number[] {
  alike ??= Map.groupBy(Array(0x10000).keys(), folded);
  return alike.get(folded(code)) ?? [code];
}
