/**
 * A site's own chart: TypeScript or JavaScript from a ConfigMap, run with cdk8s in a sandboxed process.
 *
 * The source is an ECMAScript module. Its default export is
 * - a class that extends `Chart` of cdk8s, constructed with an App, `modoki-<application>`, and `{ app, config }`, as in
 *   modoki-operator, or
 * - a function `({ app, config }, chart) => objects`, which returns plain objects, may be async, and may add ApiObjects to the
 *   Chart of cdk8s that it gets.
 *
 * An object without `metadata.name` is named by the rule of cdk8s 0.27. The source may import cdk8s, constructs, `imports/k8s` (the
 * classes that `cdk8s import k8s` generates), the modules assert, buffer, crypto, path, querystring, url, and util of Node, and
 * modules from a folder of the site: packages such as cdk8s-plus, and what `cdk8s import` generates. It cannot read files, reach
 * the network, or start programs, and it does not see the worker's environment. Each rendering gets its own `app` and `config`.
 * Module-level variables persist between renderings, whose order is not defined, so a chart should not have any.
 */
import { type Chart, ChartError, type ChartReason } from "./chart.ts";
import { digestOf, failureCache } from "./failurecache.ts";
import { type ChartProcess, startChild } from "./source/child.ts";

/** A chart's source, and limits for running it. */
export interface SourceOptions {
  readonly source: string;
  readonly language: "ts" | "js";
  /** Time limit of loading, and of each rendering. Default: 10 seconds. */
  readonly deadlineMillis?: number;
  /** Time after which an idle process is ended. Default: a minute. */
  readonly idleMillis?: number;
  /** Time during which a rendering that exceeded a limit is not repeated. Default: five minutes. */
  readonly rememberMillis?: number;
  /** Limit of the JavaScript heap. Default: 128. */
  readonly heapMegabytes?: number;
  /** Limit of the JSON of all objects of an application. Characters. Default: 4 Mi. */
  readonly maxOutput?: number;
  /** A folder with `node_modules` and `imports` that the chart may import from. Default: none. */
  readonly modules?: string | undefined;
  /** Clock in milliseconds, for tests. Default: `performance.now`. */
  readonly now?: () => number;
}

/** A chart that runs in a process. */
export interface SourceChart extends Chart {
  /** Id of the current process; undefined without one. */
  readonly pid: number | undefined;
  /** Ends the process. Pending renderings fail, and so do new ones. */
  close(): Promise<void>;
}

/** Time limit for starting the process and loading cdk8s, on a busy machine. */
const startMillis = 60_000;

type Answer = { readonly objects?: unknown[]; readonly error?: { reason: ChartReason; message: string } };

/** Creates a chart from its source. The process starts with the first rendering. Renderings run one after another. */
export function sourceChart({
  source,
  language,
  deadlineMillis = 10_000,
  idleMillis = 60_000,
  rememberMillis = 300_000,
  heapMegabytes = 128,
  maxOutput = 4 * 1024 * 1024,
  modules,
  now = () => performance.now(),
}: SourceOptions): SourceChart {
  const failures = failureCache(rememberMillis, now);
  const text = { source, language };
  const textKey = digestOf(text);
  let child: ChartProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function ask(question: object, key: string): Promise<Answer> {
    try {
      const answer = (await child?.ask(question, deadlineMillis)) as Answer;
      if (answer.error === undefined) return answer;
      throw new ChartError(answer.error.reason, answer.error.message);
    } catch (error) {
      if (error instanceof ChartError && isExpensive(error)) failures.add(key, error);
      throw error;
    }
  }

  async function load(): Promise<void> {
    const known = failures.find(textKey);
    if (known !== undefined) throw known;
    child = startChild({ heapMegabytes, maxOutput, modules });
    try {
      await child.ask(undefined, startMillis);
      await ask({ load: text }, textKey);
    } catch (error) {
      await child.end();
      throw error;
    }
  }

  async function renderNow(question: object): Promise<unknown[]> {
    clearTimeout(idle);
    const key = digestOf(question);
    const known = failures.find(key);
    if (known !== undefined) throw known;
    if (child?.alive !== true) await load();
    try {
      const { objects = [] } = await ask({ render: question }, key);
      return objects;
    } finally {
      idle = setTimeout(() => void child?.end(), idleMillis);
      idle.unref();
    }
  }

  return {
    id: `source:${digestOf(text, ...(modules === undefined ? [] : [modules])).slice(0, 16)}`,
    get pid() {
      return child?.alive === true ? child.pid : undefined;
    },
    async render(app, config, signal) {
      const job = last.then(async () => {
        signal.throwIfAborted();
        if (closed) throw new ChartError("ChartDied", "the chart was replaced. Retrying.");
        return renderNow({ app, config });
      });
      last = job.catch(() => undefined);
      return abortable(job, signal);
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      await child?.end();
      await last;
    },
  };
}

/** Failures that cost a process, or its time limit. A repetition would cost it again. */
const isExpensive = ({ reason }: ChartError): boolean =>
  reason === "ChartTimedOut" || reason === "ChartOutOfMemory" || reason === "ChartNotLoaded";

/** Rejects on abort. The job itself goes on until its deadline, because other renderings wait for the same process. */
function abortable<T>(job: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([job, promise]).finally(() => signal.removeEventListener("abort", abort));
}
