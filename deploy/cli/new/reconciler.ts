/** The text of a new function. */
import { posix } from "node:path";
import type { KnownKind } from "./knownkinds.ts";
import { exampleEvents } from "./providers.ts";
import type { Scaffold } from "./scaffold.ts";
import { hasOwnStatus } from "./subject.ts";

/** The values of its template. `path` is that of its module. */
export function reconcilerValues(scaffold: Scaffold, path: string): Readonly<Record<string, string>> {
  const { name, subject, owns, watches, webhook } = scaffold;
  const own = hasOwnStatus(subject);
  const library = ["defineFunction", ...(webhook === undefined ? [] : [webhook, "z"])];
  return {
    name,
    Kind: subject.name,
    summary: own
      ? `${subject.name}: copies the message from spec to status.`
      : `Marks each ${subject.name} with a label.`,
    imports: importLines(path, [
      subject,
      ...owns,
      ...watches,
      ...library.map((one) => ({ name: one, module: "denrei" })),
    ]),
    // The platform reports failures in the status of objects, unless another function does.
    secondary: !own && subject.kind.definition?.status !== undefined ? "  secondary: true," : "",
    owns: owns.length === 0 ? "" : `  owns: [${owns.map((one) => one.name).join(", ")}],`,
    watches: watchLines(scaffold).join("\n"),
    webhooks: webhook === undefined ? "" : webhookLines(webhook, scaffold).join("\n"),
    permissions: isBinding(subject) ? bindLines.join("\n") : "",
    children: owns
      .map((one) => `    const ${listOf(one)} = await ctx.read.children(${one.name});`)
      .join("\n"),
    body: (own ? statusLines(scaffold) : labelLines(scaffold)).join("\n"),
  };
}

/** Import statements, for modules of the project relative to `path`. */
export function importLines(
  path: string,
  imported: readonly { readonly name: string; readonly module: string }[],
): string {
  const relativeTo = (module: string): string => {
    if (!module.includes("/") || module.startsWith("@")) return module;
    const relative = posix.relative(posix.dirname(path), module);
    return relative.startsWith(".") ? relative : `./${relative}`;
  };
  return [...Map.groupBy(imported, ({ module }) => relativeTo(module))]
    .sort(([a], [b]) => order(a) - order(b) || (a < b ? -1 : 1))
    .map(([module, found]) => {
      const names = [...new Set(found.map(({ name }) => name))].sort(byName);
      return `import { ${names.join(", ")} } from "${module}";`;
    })
    .join("\n");
}

/** Packages come before files. */
const order = (module: string): number => (module.startsWith(".") ? 1 : 0);

/** As Biome sorts names: by letter, and a capital before the same small letter. The word `type` does not count. */
const byName = (a: string, b: string): number => (sortKey(a) < sortKey(b) ? -1 : 1);

const sortKey = (name: string): string =>
  name
    .replace(/^type /, "")
    .replaceAll(/[a-z]/gi, (letter) => `${letter.toLowerCase()}${letter < "a" ? 0 : 1}`);

const listOf = ({ name }: KnownKind): string => `${name.charAt(0).toLowerCase()}${name.slice(1)}s`;

function watchLines({ subject, watches }: Scaffold): string[] {
  if (watches.length === 0) return [];
  return ["  watches: [", ...watches.flatMap((one) => watchOf(one, subject.scope)), "  ],"];
}

function watchOf({ name, kind }: KnownKind, scope: "Namespaced" | "Cluster"): string[] {
  const isShared = scope === "Namespaced" && kind.scope === "Namespaced";
  const namespace = scope === "Cluster" ? '""' : '"default"';
  return [
    "    {",
    `      kind: ${name},`,
    `      // The objects to reconcile when a ${name} changes: here, that of the same name.`,
    isShared
      ? '      keys: ({ metadata: { namespace = "", name } }) => [{ namespace, name }],'
      : `      keys: ({ metadata: { name } }) => [{ namespace: ${namespace}, name }],`,
    "    },",
  ];
}

const webhookLines = (provider: string, { subject }: Scaffold): string[] => [
  "  webhooks: [",
  `    ${provider}.on("${exampleEvents[provider] ?? ""}", {`,
  "      // The fields of the payload that the function needs. All others stay off the bus.",
  "      select: z.object({}),",
  "      // The objects to reconcile: here, that with the name of the repository.",
  `      keys: ({ repository }) => [{ namespace: ${subject.scope === "Cluster" ? '""' : '"default"'}, name: repository }],`,
  "    }),",
  "  ],",
];

const isBinding = ({ kind: { group, kind } }: Scaffold["subject"]): boolean =>
  group === "rbac.authorization.k8s.io" && kind.endsWith("Binding");

const bindLines = [
  "  // The API server demands this right for a change of a binding: here, of one to the role `view`.",
  "  permissions: [",
  "    {",
  '      apiGroups: ["rbac.authorization.k8s.io"],',
  '      resources: ["clusterroles"],',
  '      resourceNames: ["view"],',
  '      verbs: ["bind"],',
  "    },",
  "  ],",
];

function statusLines({ subject, owns }: Scaffold): string[] {
  const counts = owns.map((one) => `\${${listOf(one)}.length} ${one.name}s`);
  const note = counts.length === 0 ? "message" : "message: note";
  return [
    "    const { message } = object.spec;",
    ...(counts.length === 0 ? [] : [`    const note = \`\${message} (with ${counts.join(", ")})\`;`]),
    `    await ctx.status(${subject.name}, object, { said: message }, [`,
    `      { type: "Ready", status: "True", reason: "Said", ${note} },`,
    "    ]);",
  ];
}

function labelLines({ subject, owns, label }: Scaffold): string[] {
  const counts = owns.map((one) => `${listOf(one)}: ${listOf(one)}.length`);
  return [
    ...(owns.length === 0 ? [] : [`    ctx.log.info({ ${counts.join(", ")} }, "children");`]),
    `    const labels = { "${label}": "seen" };`,
    `    await ctx.applyFields(${subject.name}, object, { metadata: { labels } });`,
  ];
}
