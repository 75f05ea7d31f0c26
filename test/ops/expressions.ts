/** What a PromQL expression asks for. */

const words = new Set([
  "and",
  "or",
  "unless",
  "on",
  "by",
  "ignoring",
  "without",
  "group_left",
  "group_right",
  "bool",
  "offset",
]);

/**
 * The names of metrics in an expression: what is left when label matchers, groupings, ranges, functions and numbers are
 * taken away. Buckets, sums and counts are of the histogram that has them.
 */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/\{[^}]*\}/g, " ")
    .replace(/\[[^\]]*\]/g, " ")
    .replace(/\b(by|on|ignoring|without|group_left|group_right)\s*\([^)]*\)/g, " ");
  const names = bare.matchAll(/(?<![\w:])[a-zA-Z_:][\w:]*(?![\w:]|\s*\()/g);
  return [...new Set([...names].map(([name]) => name))]
    .filter((name) => !words.has(name) && !/^\d/.test(name))
    .map((name) => name.replace(/_(bucket|sum|count)$/, ""));
}

/** Names of metrics that a process serves, in the text that Prometheus reads. */
export const servedIn = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
