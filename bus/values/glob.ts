/** Globs, by which people name several repositories, namespaces or branches. Pure. */

/** Whether a glob, in which `*` stands for any letters but a slash, matches. GitHub's names ignore case. */
export function matchesGlob(glob: string, text: string): boolean {
  const parts = text.toLowerCase().split("/");
  const patterns = glob.toLowerCase().split("/");
  return (
    patterns.length === parts.length && patterns.every((pattern, at) => matches(pattern, parts[at] ?? ""))
  );
}

/** Without a regular expression: of many stars it makes one that takes for ever, and holds up all that the process does. */
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
