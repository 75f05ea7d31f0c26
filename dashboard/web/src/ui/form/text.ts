/** Sentences and labels of forms. */
const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

export const text = {
  restored: "Your unsaved input was restored.",
  discard: "Discard it",
  changed: "The object changed since you started editing.",
  startOver: "Start over from the current version",
  replaced:
    "The object was deleted and created again. Your unsaved input was for the former one and was discarded.",
  create: "Create",
  save: "Save",
  sending: "Sending…",
  cancel: "Cancel",
  name: "Name",
  nameExample: "web",
  namespace: "Target namespace",
  more: (what: string) => `More: ${what}`,
  created: (name: string) => `Created ${name}.`,
  saved: (name: string) => `Saved ${name}.`,
  noChanges: "No changes to save.",
  problems: (count: number) => `${plural(count, "problem")} to fix`,

  // Problems of fields
  notSaved: "The object was not saved:",
  /** Before the reason of Kubernetes, or of the schema. */
  rejected: "Kubernetes rejects this value:",
  invalid: "This value is not valid:",
  enterValue: "Enter a value.",
  enterNumber: "Enter a number.",
  enterWhole: "Enter a whole number.",
  enterAtLeast: (least: number) => `Enter a number of at least ${least}.`,
  enterAtMost: (most: number) => `Enter a number of at most ${most}.`,
  useAtLeast: (least: number) => `Use at least ${plural(least, "character")}.`,
  useAtMost: (most: number) => `Use at most ${plural(most, "character")}.`,
  enterName: "Enter a name.",
  enterNamespace: "Enter a namespace.",
  nameShape: "Use lowercase letters, digits, and hyphens. Start and end with a letter or digit.",

  /** Maps of names to values. */
  pairs: {
    add: "Add",
    namePlaceholder: "name",
    valuePlaceholder: "value",
    name: (number: number, field: string) => `Name ${number} of ${field}`,
    value: (number: number, field: string) => `Value ${number} of ${field}`,
    pair: (number: number) => `pair ${number}`,
    remove: (pair: string, field: string) => `Remove ${pair} of ${field}`,
  },
  remove: "Remove",
  variables: {
    add: "Add a variable",
    /** For screen readers, with the labels of inputs: `Name of variable 1`. */
    one: (number: number) => `variable ${number}`,
    source: (number: number) => `source ${number}`,
    labelOf: (label: string, one: string) => `${label} of ${one}`,
    remove: (one: string) => `Remove ${one}`,
    labels: {
      name: "Name",
      value: "Value",
      source: "Source",
      kind: "Kind",
      key: "Key",
      secretKeyRef: "Secret",
      configMapKeyRef: "ConfigMap",
    },
    placeholders: { variable: "NAME", value: "value", name: "name", key: "key" },
    sources: { value: "Value", secretKeyRef: "Key of a Secret", configMapKeyRef: "Key of a ConfigMap" },
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
