/** What may be imported once this process is set up: by the chart, and by the packages that it uses. */
import { registerHooks } from "node:module";

/** How the chart is called here, in stack traces as well. It is no file: its text comes with the first question. */
export const chartUrl = "chart:main";

const packages: readonly string[] = ["cdk8s", "constructs"];
/** Of Node, what computes and does nothing else. */
const pure: readonly string[] = ["assert", "buffer", "crypto", "path", "querystring", "url", "util"];
/** Of Node, what cdk8s asks for: instead of it it gets what refuses to do anything, and says so. */
const replaced: readonly string[] = ["child_process", "fs", "os"];

const here = new URL(".", import.meta.url).href;
const isOurs = (url: string): boolean => url.startsWith(here);

let chartSource: string | undefined;

/** The text that is the chart from now on. */
export function provideChart(source: string): void {
  chartSource = source;
}

/** From now on nothing is imported but what is listed above, whichever way it is asked for. */
export function restrictModules(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const from = context.parentURL ?? "";
      if (isOurs(from)) {
        if (specifier === chartUrl) return { url: chartUrl, format: "module", shortCircuit: true };
        return next(specifier, context);
      }
      const name = specifier.startsWith("node:") ? specifier.slice("node:".length) : specifier;
      const path = from.startsWith("file:");
      if (path && name === "process") return at("process.ts");
      if (path && replaced.includes(name)) return at("refused.ts");
      if (pure.includes(name)) return next(`node:${name}`, context);
      // The chart lies nowhere: what it uses is found from here.
      if (packages.includes(specifier)) return next(specifier, { ...context, parentURL: import.meta.url });
      if (path && (specifier.startsWith(".") || dependencies.includes(specifier)))
        return next(specifier, context);
      throw new Error(
        `expected an import of ${[...packages, ...pure.map((each) => `node:${each}`)].join(", ")}, found ${JSON.stringify(specifier)}. ` +
          "A chart computes objects and does nothing else: do without, or write what you need into the chart. For types alone write import type.",
      );
    },
    load(url, context, next) {
      if (url !== chartUrl) return next(url, context);
      return { format: "module", source: chartSource ?? "", shortCircuit: true };
    },
  });
}

/** What cdk8s itself needs. */
const dependencies: readonly string[] = ["fast-json-patch", "yaml"];

const at = (file: string) => ({ url: here + file, shortCircuit: true });
