/**
 * Charts of a site's own: TypeScript or JavaScript, as it stands in a ConfigMap, run by cdk8s in a process of its own.
 *
 * The text is an ECMAScript module. Its default export is
 * - a class that extends `Chart` of cdk8s, made with an App, `modoki-<application>` and `{ app, config }`, as in
 *   modoki-operator; what it holds then are the objects, or
 * - a function `({ app, config }, chart) => objects`, which returns plain objects, may be async, and may put ApiObjects into
 *   the Chart of cdk8s that it is given.
 *
 * An object without `metadata.name` is named by the rule of cdk8s 0.27. The text may import cdk8s, constructs, `imports/k8s` (the
 * classes that `cdk8s import k8s` generates), of Node assert, buffer, crypto, path, querystring, url and util, and modules from a
 * folder of the site: packages such as cdk8s-plus, and what `cdk8s import` generates. It may not read files, reach the network or start programs, and
 * of our environment it sees nothing. `app` and `config` are its own each time; variables of the module itself live from one
 * rendering to the next, in no order that one could rely on, so a chart should not have any.
 */
import { type Chart, ChartError, type ChartReason } from "./chart.ts";
import { digestOf, remembered } from "./remembered.ts";
import { type ChartProcess, startChild } from "./source/child.ts";

/** A chart, and how it is run. */
export interface SourceOptions {
  readonly source: string;
  readonly language: "ts" | "js";
  /** How long a rendering may take, and loading the text. Default: 10 seconds. */
  readonly deadlineMillis?: number;
  /** How long a process without work is kept. Default: a minute. */
  readonly idleMillis?: number;
  /** How long it is remembered that a rendering took too long or too much. Default: five minutes. */
  readonly rememberMillis?: number;
  /** Of JavaScript's memory. Default: 128. */
  readonly heapMegabytes?: number;
  /** Characters of JSON of all objects of an application. Default: 4 Mi. */
  readonly maxOutput?: number;
  /** A folder with `node_modules` and `imports` that the chart may import from. Default: none. */
  readonly modules?: string | undefined;
  /** Milliseconds, for tests. Default: `performance.now`. */
  readonly now?: () => number;
}

/** A chart with a process. */
export interface SourceChart extends Chart {
  /** The process that runs it now, if there is one. */
  readonly pid: number | undefined;
  /** Ends its process. Renderings that wait for it fail, and new ones are not made. */
  close(): Promise<void>;
}

/** Until the process has loaded cdk8s, on a machine that has much to do. */
const startMillis = 60_000;

type Answer = { readonly objects?: unknown[]; readonly error?: { reason: ChartReason; message: string } };

/** A chart from its text. Its process is started when it is first needed, and renders one application after the other. */
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
  const costly = remembered(rememberMillis, now);
  const text = { source, language };
  const textKey = digestOf(text);
  let child: ChartProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function asked(question: object, key: string): Promise<Answer> {
    try {
      const answer = (await child?.ask(question, deadlineMillis)) as Answer;
      if (answer.error === undefined) return answer;
      throw new ChartError(answer.error.reason, answer.error.message);
    } catch (error) {
      if (error instanceof ChartError && isCostly(error)) costly.add(key, error);
      throw error;
    }
  }

  async function load(): Promise<void> {
    const known = costly.find(textKey);
    if (known !== undefined) throw known;
    child = startChild({ heapMegabytes, maxOutput, modules });
    try {
      await child.ask(undefined, startMillis);
      await asked({ load: text }, textKey);
    } catch (error) {
      await child.end();
      throw error;
    }
  }

  async function renderNow(question: object): Promise<unknown[]> {
    clearTimeout(idle);
    const key = digestOf(question);
    const known = costly.find(key);
    if (known !== undefined) throw known;
    if (child?.alive !== true) await load();
    try {
      const { objects = [] } = await asked({ render: question }, key);
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
        if (closed)
          throw new ChartError(
            "ChartDied",
            "expected a chart, found one that was closed. It is tried again.",
          );
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

/** These took a process, or its time; the same again would take it again. */
const isCostly = ({ reason }: ChartError): boolean =>
  reason === "ChartTimedOut" || reason === "ChartOutOfMemory" || reason === "ChartNotLoaded";

/** What was begun goes on until its deadline: others wait for the same process. */
function abortable<T>(job: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([job, promise]).finally(() => signal.removeEventListener("abort", abort));
}
