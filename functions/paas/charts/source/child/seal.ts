/**
 * Removes globals with side effects. Node's permissions leave the network open, and any object that holds a socket leads to it, so
 * only listed globals stay.
 */
import { format } from "node:util";
import { runInNewContext } from "node:vm";
import { printText } from "./lines.ts";
import { charted } from "./restrictedprocess.ts";

/** Globals that stay, besides those of the language: pure computation, and timers. */
const keptGlobals: readonly string[] = [
  ..."AbortController AbortSignal Buffer DOMException Event EventTarget TextDecoder TextEncoder URL URLSearchParams".split(
    " ",
  ),
  ..."atob btoa clearImmediate clearInterval clearTimeout crypto global queueMicrotask".split(" "),
  ..."setImmediate setInterval setTimeout structuredClone".split(" "),
];
const removedGlobals: readonly string[] = ["WebAssembly"];

/** Properties of `process` that Node itself needs at run time. */
const keptOfProcess: readonly string[] = [
  ..."_events _eventsCount _exiting _fatalException _maxListeners _tickCallback arch config cwd domain emitWarning env".split(
    " ",
  ),
  ..."argv argv0 execArgv execPath exitCode features hrtime nextTick noProcessWarnings pid permission platform".split(
    " ",
  ),
  ..."reallyExit release sourceMapsEnabled version versions".split(" "),
];

/** Throws when a property cannot be removed. */
export function seal(): void {
  const language: string[] = runInNewContext("Object.getOwnPropertyNames(globalThis)");
  const kept = [...language.filter((name) => !removedGlobals.includes(name)), ...keptGlobals];
  for (const name of Object.getOwnPropertyNames(process)) {
    if (!keptOfProcess.includes(name)) remove(process, name);
  }
  // Node reads this after an uncaught exception.
  define(process, "report", { reportOnUncaughtException: false });
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!kept.includes(name)) remove(globalThis, name);
  }
  define(globalThis, "process", charted);
  define(globalThis, "console", quiet);
}

function remove(object: object, name: string): void {
  if (!Reflect.deleteProperty(object, name)) {
    throw new Error(`cannot remove ${name} from the chart's globals. Check what changed in Node.`);
  }
}

const define = (object: object, name: string, value: object): void => {
  Object.defineProperty(object, name, { value, writable: false, configurable: false, enumerable: true });
};

const say = (...words: unknown[]): void => printText(`${format(...words)}\n`);
const nothing = (): void => undefined;

/** Prints to standard error for the chart's author, never between the answers. */
const quiet = Object.freeze({
  ...{ log: say, info: say, debug: say, warn: say, error: say, trace: say, dir: say, table: say },
  ...{ assert: nothing, clear: nothing, count: nothing, countReset: nothing, group: nothing },
  ...{ groupCollapsed: nothing, groupEnd: nothing, time: nothing, timeEnd: nothing, timeLog: nothing },
});
