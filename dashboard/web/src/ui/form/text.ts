/** Sentences and labels of forms. */
const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

export const text = {
  restored: "Your unsaved input was restored.",
  discard: "Discard it",
  changed: "The object changed since you started editing.",
  startOver: "Start over from the current version",
  replaced:
    "The object was deleted and created again. Your unsaved input was for the former one and was discarded.",
  created: (name: string) => `Created ${name}.`,
  saved: (name: string) => `Saved ${name}.`,
  noChanges: "No changes to save.",
  problems: (count: number) => `${plural(count, "problem")} to fix`,
  variables: {
    add: "Add a variable",
    anywhere:
      "Store sensitive values in a Secret. Values entered here are visible to all who can read the object.",
    values: "Values are visible to all who can read the object.",
    addSource: "Add a source",
  },
  paste: {
    open: "Paste .env",
    title: "Paste variables",
    label: "Lines of a .env file",
    hint: "One NAME=value per line. Comments and quotes work as in .env files.",
    unknown: (lines: readonly number[]) =>
      `${lines.length === 1 ? "Line" : "Lines"} ${lines.join(", ")}: enter NAME=value.`,
    empty: "Enter at least one line such as NAME=value.",
    add: "Add variables",
    cancel: "Cancel",
    done: (added: number, replaced: number) =>
      [
        ...(added > 0 || replaced === 0 ? [`Added ${plural(added, "variable")}.`] : []),
        ...(replaced > 0 ? [`Replaced ${plural(replaced, "value")}.`] : []),
      ].join(" "),
  },
} as const;
