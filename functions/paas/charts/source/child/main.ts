/**
 * Entry point of the process that runs a site's chart. It reads a request from each line of its input, and writes an answer to each
 * line of its output. It ends with its input, so it ends when its parent dies.
 */
import { printText, readLines, writeLine } from "./lines.ts";
import { restrictModules, sealModules } from "./modules.ts";
import { seal } from "./seal.ts";

/** Requests. The first one loads the chart. */
type Question =
  | { readonly load: { readonly source: string; readonly language: "ts" | "js" } }
  | { readonly render: { readonly app: Application; readonly config: unknown } };
type Application = { readonly metadata: { readonly name: string } };

// Keep the originals: the chart runs in this realm and may change globals.
const { parse, stringify } = JSON;
const exit = process.exit.bind(process);
const captureUncaught = process.setUncaughtExceptionCaptureCallback.bind(process);
const maxBytes = Number(process.argv[2]);

restrictModules(process.argv[3]);
const { serializeError: fromChart } = await import("./errors.ts");
const { loadChart } = await import("./load.ts");
const { rendered } = await import("./contract.ts");
const { useLegacyNames: nameAsBefore } = await import("./legacynames.ts");
nameAsBefore();
seal();
sealModules();

// An unhandled rejection belongs to a rendering that has ended.
captureUncaught((error) => printText(`${String(error)}\n`));
// Keeps the event loop alive, so that the deadline ends a chart that waits forever.
setInterval(() => {}, 2 ** 30);

let exported: unknown;

async function answer(question: Question): Promise<object> {
  try {
    if ("load" in question) {
      exported = await loadChart(question.load);
      return {};
    }
    return { objects: await rendered(exported, question.render) };
  } catch (error) {
    return { error: fromChart(error, "load" in question ? "ChartNotLoaded" : "ChartThrew") };
  }
}

function answerText(answer: object): string {
  try {
    const text = stringify(answer);
    if (text.length <= maxBytes) return text;
    return invalid(
      `the JSON of the objects has ${text.length} characters, more than ${maxBytes}. Make fewer or smaller objects.`,
    );
  } catch (error) {
    return invalid(`the objects cannot be written as JSON: ${fromChart(error, "").message}`);
  }
}

const invalid = (message: string): string => stringify({ error: { reason: "ChartOutputInvalid", message } });

try {
  writeLine(1, stringify({ ready: true }));
  for (const line of readLines(0)) writeLine(1, answerText(await answer(parse(line))));
  exit(0);
} catch (error) {
  printText(String(error));
  exit(1);
}
