/**
 * The process in which a chart of a site's own runs: a question in each line of its input, an answer in each line of its
 * output. It ends with its input, so also with whoever started it.
 */
import { printText, readLines, writeLine } from "./lines.ts";
import { restrictModules, sealModules } from "./modules.ts";
import { seal } from "./seal.ts";

/** What can be asked. The first question is about the chart itself. */
type Question =
  | { readonly load: { readonly source: string; readonly language: "ts" | "js" } }
  | { readonly render: { readonly app: Application; readonly config: unknown } };
type Application = { readonly metadata: { readonly name: string } };

// The chart comes into this realm, too, and may change what is in it.
const { parse, stringify } = JSON;
const exit = process.exit.bind(process);
const captureUncaught = process.setUncaughtExceptionCaptureCallback.bind(process);
const maxBytes = Number(process.argv[2]);

restrictModules(process.argv[3]);
const { fromChart } = await import("./blame.ts");
const { loadChart } = await import("./load.ts");
const { rendered } = await import("./contract.ts");
const { nameAsBefore } = await import("./names.ts");
nameAsBefore();
seal();
sealModules();

// A promise that fails when nobody waits for it belongs to a rendering that is over.
captureUncaught((error) => printText(`${String(error)}\n`));
// A chart that waits for what never comes is ended by its deadline, and not by an event loop that has nothing to do.
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
      `expected at most ${maxBytes} characters of JSON, found ${text.length}. Make fewer or smaller objects.`,
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
