/** Case folding of JavaScript's regular expressions. RE2 folds letters beyond ASCII in other ways. */

/**
 * The form that the flag `i` compares without the flag `u`: the upper case, unless that is several characters, or ASCII for a
 * character beyond ASCII.
 */
function folded(code: number): number {
  const upper = String.fromCharCode(code).toUpperCase();
  const to = upper.charCodeAt(0);
  return upper.length > 1 || (code > 0x7f && to <= 0x7f) ? code : to;
}

let alike: ReadonlyMap<number, readonly number[]> | undefined;

/** All characters that the flag `i` treats as equal to this one, including itself. */
export function sameLetters(code: number): readonly number[] {
  alike ??= Map.groupBy(Array(0x10000).keys(), folded);
  return alike.get(folded(code)) ?? [code];
}
