/** Checks the commands in pages: npm scripts, and `denrei` with its subcommands and flags. */
import { runHere } from "../cli/here.ts";

/** Subcommands and flags that a command's help lists. */
interface Help {
  readonly subcommands: readonly string[];
  readonly flags: readonly string[];
}

const helps = new Map<string, Promise<Help>>();

/** Runs the command line with `--help`: once per command, one at a time, because it writes to this process's output. */
function helpOf(command: readonly string[]): Promise<Help> {
  const name = command.join(" ");
  const known = helps.get(name) ?? Promise.allSettled(helps.values()).then(() => readHelp(command));
  helps.set(name, known);
  return known;
}

async function readHelp(command: readonly string[]): Promise<Help> {
  const { code, stdout, stderr } = await runHere([...command, "--help"]);
  if (code !== 0) throw new Error(`denrei ${command.join(" ")} --help exited with ${code}: ${stderr}`);
  // Groups of commands follow the options.
  const [, list = ""] = stdout.split(/^Options:$(?:\n {2}.*)*/m);
  return {
    subcommands: [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = ""]) => name),
    flags: stdout.match(/--?[a-zA-Z][a-z-]*/g) ?? [],
  };
}

/** Describes the error in a command; undefined for valid commands and for other programs. */
export async function problemOf(
  words: readonly string[],
  scripts: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const [program, verb, script = "", ...rest] = words;
  if (program === "denrei") return problemOfDenrei(words.slice(1));
  if (program === "npx" && verb === "denrei") return problemOfDenrei(words.slice(2));
  if (program !== "npm" || verb !== "run" || script === "" || isPlaceholder(script)) return undefined;
  if (!(script in scripts)) return `package.json has no script "${script}"`;
  // `npm run demo -- paas` is `denrei demo … paas`.
  const [, scriptArgs] = /^node bus\/command\/denrei\.js\b(.*)$/.exec(scripts[script] ?? "") ?? [];
  if (scriptArgs === undefined) return undefined;
  return problemOfDenrei([
    ...scriptArgs.split(/\s+/).filter(Boolean),
    ...rest.filter((word) => word !== "--"),
  ]);
}

const isPlaceholder = (word: string): boolean => /^[<[….]/.test(word);

async function problemOfDenrei(words: readonly string[]): Promise<string | undefined> {
  const command: string[] = [];
  let { subcommands, flags } = await helpOf(command);
  for (const word of words) {
    if (word.startsWith("-")) {
      const [flag = ""] = word.split("=", 1);
      if (!flags.includes(flag)) return `${["denrei", ...command].join(" ")} has no ${flag}`;
    } else if (subcommands.length > 0) {
      if (isPlaceholder(word)) return undefined;
      if (!subcommands.includes(word)) return `${["denrei", ...command].join(" ")} has no command "${word}"`;
      command.push(word);
      ({ subcommands, flags } = await helpOf(command));
    }
  }
  return undefined;
}
