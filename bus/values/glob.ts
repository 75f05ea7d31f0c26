/** Globs, with which users select repositories, namespaces, or branches. Pure. */

/** Whether a glob matches; `*` matches any characters except a slash. Ignores case, like GitHub's names. */
export function matchesGlob(glob: string, text: string): boolean {
  const parts = text.toLowerCase().split("/");
  const patterns = glob.toLowerCase().split("/");
  return (
    patterns.length === parts.length && patterns.every((pattern, at) => matches(pattern, parts[at] ?? ""))
  );
}

/** Does not use a regular expression: with many stars, matching one would take exponential time and block the process. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...between] = pattern.split("*");
  const last = between.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const part of between) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from + last.length <= text.length;
}
