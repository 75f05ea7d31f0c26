/** A project with functions that mark stones, whose code tests change. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** An object of a test function, which the code marks. */
export interface Stone extends KubeObject<Record<string, unknown>, { mark?: string; times?: number }> {}

/** A kind that the test functions define. */
export const stoneKind = (kind: string) =>
  externalKind<Stone>({ group: "test.denrei.dev", version: "v1", kind, plural: `${kind.toLowerCase()}s` });

/** The source of a function that marks its stones. Its reconcile begins at line {@link firstLine}. */
export const source = ({
  kind = "Pebble",
  mark = "1",
  spec = "",
  declares = "",
  reconcile = "",
  timeoutMillis = 60_000,
  webhooks = "",
} = {}): string => `
import { defineFunction, defineKind, github, z } from "denrei";

const Stone = defineKind({
  group: "test.denrei.dev",
  version: "v1",
  kind: "${kind}",
  description: "A stone.",
  spec: z.object({ ticks: z.int().optional(), ${spec} }),
  status: z.object({ mark: z.string().optional(), times: z.int().optional() }),
});

export default defineFunction({
  name: "${kind.toLowerCase()}",
  for: Stone, ${declares}
  timeoutMillis: ${timeoutMillis},
  webhooks: [${webhooks}],
  async reconcile(stone, ctx) {
    const times = (stone.status?.times ?? 0) + 1;
    ${reconcile}
    await ctx.status(Stone, stone, { mark: "${mark}", times });
    return times < (stone.spec.ticks ?? 0) ? { requeueAfter: 500 } : undefined;
  },
});
`;

/** The line of {@link source} at which the reconcile begins. */
export const firstLine =
  source()
    .split("\n")
    .findIndex((line) => line.includes("const times")) + 1;

/** The files of a project. */
export interface StoneCode {
  readonly folder: string;
  /** Saves a file in functions/. */
  save(path: string, text: string): void;
  /** Saves the configuration: paths of functions by name. */
  saveConfig(files: Readonly<Record<string, string>>): void;
  /** Copies a folder of functions/ from this repository. */
  addFunctions(folder: string): void;
}

/** Creates a project with the function `pebble` in a new folder. */
export function makeStoneCode(folder: string): StoneCode {
  mkdirSync(join(folder, "functions"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "stones", "type": "module" }');
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const code: StoneCode = {
    folder,
    save(path, text) {
      mkdirSync(join(folder, "functions", path, ".."), { recursive: true });
      writeFileSync(join(folder, "functions", path), text);
    },
    addFunctions(name) {
      cpSync(join(root, "functions", name), join(folder, "functions", name), { recursive: true });
    },
    saveConfig(files) {
      const entries = Object.entries(files).map(
        ([name, path]) => `    ${name}: () => import("./functions/${path}"),`,
      );
      const text = ["export default {", "  functions: {", ...entries, "  },", "};", ""];
      writeFileSync(join(folder, "denrei.config.ts"), text.join("\n"));
    },
  };
  code.saveConfig({ pebble: "stones/pebble.ts" });
  code.save("stones/pebble.ts", source());
  return code;
}
