/** The metrics in PromQL expressions. */

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
 * The names of metrics in an expression: the words that remain without label matchers, groupings, ranges, texts, functions,
 * and numbers. Buckets, sums, and counts are reduced to their histogram.
 */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/\{[^}]*\}/g, " ")
    .replace(/\[[^\]]*\]/g, " ")
    .replace(/"[^"]*"/g, " ")
    .replace(/\b(by|on|ignoring|without|group_left|group_right)\s*\([^)]*\)/g, " ");
  const names = bare.matchAll(/(?<![\w:])[a-zA-Z_:][\w:]*(?![\w:]|\s*\()/g);
  return [...new Set([...names].map(([name]) => name))]
    .filter((name) => !words.has(name) && !/^\d/.test(name))
    .map((name) => name.replace(/_(bucket|sum|count)$/, ""));
}

/** The names of metrics in a process's response to a scrape. */
export const servedIn = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
