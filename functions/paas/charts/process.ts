/**
 * Charts that are programs, by the contract of modoki-operator. A program reads the Application as a line of JSON from standard
 * input, and the site's configuration from the file in `CONFIG_PATH`. It prints YAML documents to standard output, and errors to
 * standard error.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { type Chart, ChartError } from "./chart.ts";
import { digestOf } from "./failurecache.ts";
import { run } from "./process/run.ts";

/** A program that renders objects. */
export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  /** Default: a minute, as in modoki-operator. */
  readonly deadlineMillis?: number;
  /** Version of the program. A new version discards cached renderings. Default: none, for a program that never changes. */
  readonly version?: string;
}

const maxOutput = 4 * 1024 * 1024;
const maxMessage = 2000;

/**
 * A chart that is a program. It is started for each rendering, with only `PATH`, `HOME`, and `CONFIG_PATH` in its environment.
 * `HOME` and the configuration are in a temporary folder. It runs with the worker's rights, so the site has to trust it. A program
 * that prints nothing fails with `ChartEmpty`.
 */
export function processChart({
  command,
  args,
  directory,
  deadlineMillis = 60_000,
  version = "",
}: ProcessOptions): Chart {
  return {
    id: `process:${digestOf(command, args, directory, version).slice(0, 16)}`,
    async render(app, config, signal) {
      const folder = await mkdtemp(join(tmpdir(), "chart-"));
      try {
        const configPath = join(folder, "config.json");
        await writeFile(configPath, JSON.stringify(config), { mode: 0o600 });
        const { output, errors } = await run({
          command,
          args,
          directory,
          env: { PATH: process.env.PATH, HOME: folder, CONFIG_PATH: configPath },
          input: `${JSON.stringify(app)}\n`,
          deadlineMillis,
          maxOutput,
          signal,
        });
        return documentsOf(output, errors);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

function documentsOf(output: string, errors: string): unknown[] {
  let documents: unknown[];
  try {
    documents = parseAllDocuments(output).map((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      return document.toJS();
    });
  } catch (error) {
    // The parser reports excessive aliases as a ReferenceError.
    const why = error instanceof Error ? error.message : String(error);
    throw new ChartError(
      "ChartOutputInvalid",
      `standard output is not valid YAML: ${cut(why)}. Print only YAML there.`,
      { cause: error },
    );
  }
  const objects = documents.filter((document) => document !== null && document !== undefined);
  if (objects.length > 0) return objects;
  if (errors.trim() !== "") throw new ChartError("ChartThrew", cut(errors.trim()));
  throw new ChartError(
    "ChartEmpty",
    "the program printed neither objects nor an error. Check that it reads its input and prints YAML.",
  );
}

const cut = (text: string): string => (text.length > maxMessage ? `${text.slice(0, maxMessage)}…` : text);
