/**
 * Charts that are programs, by the contract of modoki-operator: the Application as a line of JSON on standard input, the site's
 * configuration in the file that `CONFIG_PATH` names, YAML documents on standard output, and what is wrong on standard error.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { type Chart, ChartError } from "./chart.ts";
import { run } from "./process/run.ts";
import { digestOf } from "./remembered.ts";

/** A program that is a chart. */
export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Where it runs. */
  readonly directory: string;
  /** Default: a minute, as in modoki-operator. */
  readonly deadlineMillis?: number;
  /** Of the program: renderings are kept until it is another one. Default: none, for a program that stays as it is. */
  readonly version?: string;
}

const maxOutput = 4 * 1024 * 1024;
const maxMessage = 2000;

/**
 * A chart that is a program. For each application it is started anew, with `PATH`, `HOME` and `CONFIG_PATH` in its environment and
 * nothing of ours; `HOME` and the configuration are in a folder that is removed again. It runs with our rights, so it has to
 * be a program that the site trusts. A program that makes nothing and says nothing has failed: `ChartEmpty`.
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
    // Aliases without end are told as a ReferenceError.
    const why = error instanceof Error ? error.message : String(error);
    throw new ChartError(
      "ChartOutputInvalid",
      `expected YAML on standard output, found what is none: ${cut(why)}. Print nothing else there.`,
      { cause: error },
    );
  }
  const objects = documents.filter((document) => document !== null && document !== undefined);
  if (objects.length > 0) return objects;
  if (errors.trim() !== "") throw new ChartError("ChartThrew", cut(errors.trim()));
  throw new ChartError(
    "ChartEmpty",
    "expected objects on standard output or a reason on standard error, found neither. See that the program reads its input and prints YAML.",
  );
}

const cut = (text: string): string => (text.length > maxMessage ? `${text.slice(0, maxMessage)}…` : text);
