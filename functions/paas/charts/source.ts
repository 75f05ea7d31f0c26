/**
 * A site's own chart: TypeScript or JavaScript from a ConfigMap, run with cdk8s in a sandboxed process.
 *
 * The source is an ECMAScript module. Its default export is one of these:
 * - a class that extends `Chart` of cdk8s. As in modoki-operator, its arguments are an App, `modoki-<application>`, and
 *   `{ app, config }`.
 * - a function `({ app, config }, chart) => objects`, which may be async. It returns plain objects, and may add ApiObjects to `chart`,
 *   a Chart of cdk8s.
 *
 * An object without `metadata.name` is named by the rule of cdk8s 0.27. The source may import:
 * - cdk8s, constructs, and `imports/k8s`, the classes that `cdk8s import k8s` generates
 * - assert, buffer, crypto, path, querystring, url, and util of Node
 * - modules from a folder of the site: packages such as cdk8s-plus, and code that `cdk8s import` generated
 *
 * It cannot read files, reach the network, start programs, or see the worker's environment. Each rendering gets its own `app` and
 * `config`. Module-level variables persist between renderings, whose order is not defined, so a chart should not have any.
 */
import { type Chart, ChartError, type ChartReason } from "./chart.ts";
import { digestOf, type FailureCache, failureCache } from "./failurecache.ts";
import { type ChartProcess, type Limits, startChild } from "./source/child.ts";

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
export function sourceChart(options: SourceOptions): SourceChart {
  const { source, language, modules } = options;
  const runner = new Runner(options);
  // Renderings wait for the previous one.
  let last: Promise<unknown> = Promise.resolve();
  return {
    id: `source:${digestOf({ source, language }, ...(modules === undefined ? [] : [modules])).slice(0, 16)}`,
    get pid() {
      return runner.pid;
    },
    async render(app, config, signal) {
      const job = last.then(async () => {
        signal.throwIfAborted();
        return runner.render({ app, config });
      });
      last = job.catch(() => undefined);
      return abortable(job, signal);
    },
    async close() {
      await runner.close();
      await last;
    },
  };
}

/** Runs renderings in a process, which it starts on demand and ends when it is idle. One rendering at a time. */
class Runner {
  readonly #text: Pick<SourceOptions, "source" | "language">;
  readonly #limits: Limits;
  readonly #deadlineMillis: number;
  readonly #idleMillis: number;
  /** Failures that are not worth a repetition. */
  readonly #failures: FailureCache;
  #child: ChartProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({
    source,
    language,
    deadlineMillis = 10_000,
    idleMillis = 60_000,
    rememberMillis = 300_000,
    heapMegabytes = 128,
    maxOutput = 4 * 1024 * 1024,
    modules,
    now = () => performance.now(),
  }: SourceOptions) {
    this.#text = { source, language };
    this.#limits = { heapMegabytes, maxOutput, modules };
    this.#deadlineMillis = deadlineMillis;
    this.#idleMillis = idleMillis;
    this.#failures = failureCache(rememberMillis, now);
  }

  get pid(): number | undefined {
    return this.#child?.alive === true ? this.#child.pid : undefined;
  }

  async render(question: object): Promise<unknown[]> {
    if (this.#closed) throw new ChartError("ChartDied", "the chart was replaced. Retrying.");
    clearTimeout(this.#idle);
    const key = digestOf(question);
    this.#throwKnown(key);
    if (this.#child?.alive !== true) await this.#load();
    try {
      const { objects = [] } = await this.#ask({ render: question }, key);
      return objects;
    } finally {
      this.#idle = setTimeout(() => void this.#child?.end(), this.#idleMillis);
      this.#idle.unref();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#child?.end();
  }

  async #load(): Promise<void> {
    const key = digestOf(this.#text);
    this.#throwKnown(key);
    const child = startChild(this.#limits);
    this.#child = child;
    try {
      await child.ask(undefined, startMillis);
      await this.#ask({ load: this.#text }, key);
    } catch (error) {
      await child.end();
      throw error;
    }
  }

  #throwKnown(key: string): void {
    const known = this.#failures.find(key);
    if (known !== undefined) throw known;
  }

  async #ask(question: object, key: string): Promise<Answer> {
    try {
      const answer = (await this.#child?.ask(question, this.#deadlineMillis)) as Answer;
      if (answer.error === undefined) return answer;
      throw new ChartError(answer.error.reason, answer.error.message);
    } catch (error) {
      if (error instanceof ChartError && isExpensive(error)) this.#failures.add(key, error);
      throw error;
    }
  }
}

/** Failures that cost a process, or its time limit. A repetition would cost it again. */
const isExpensive = ({ reason }: ChartError): boolean =>
  reason === "ChartTimedOut" || reason === "ChartOutOfMemory" || reason === "ChartNotLoaded";

/** Rejects on abort. The job continues until its deadline, because other renderings wait for the same process. */
function abortable<T>(job: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([job, promise]).finally(() => signal.removeEventListener("abort", abort));
}
