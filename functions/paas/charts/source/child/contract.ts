/** Calls a chart: a class as in modoki-operator, or a function. */
import { ApiObject, App, Chart } from "cdk8s";

/** Inputs of a chart. */
export interface Props {
  readonly app: { readonly metadata: { readonly name: string } };
  readonly config: unknown;
}

type ChartClass = new (scope: App, id: string, props: Props) => Chart;
type ChartFunction = (props: Props, chart: Chart) => unknown;

/** The objects that the default export renders, as plain JSON. */
export async function rendered(exported: unknown, props: Props): Promise<unknown[]> {
  const app = new App();
  const id = `modoki-${props.app.metadata.name}`;
  if (isChartClass(exported)) {
    new exported(app, id, props);
    return objectsOf(app);
  }
  const chart = new Chart(app, id);
  const returned = await (exported as ChartFunction)(props, chart);
  const list = Array.isArray(returned) ? returned : [returned];
  const [objects, rest] = [list.filter(isObject), list.filter((each) => !isObject(each))];
  const count = new Map<string, number>();
  for (const object of objects) {
    const kind = object.kind.toLowerCase();
    const number = (count.get(kind) ?? 0) + 1;
    count.set(kind, number);
    new ApiObject(chart, number === 1 ? kind : `${kind}-${number}`, object);
  }
  // The validation reports elements that are not objects.
  return [...objectsOf(app), ...rest.filter((each) => !(each instanceof ApiObject))];
}

/** Throws when the default export cannot be called. */
export function checkExport(exported: unknown): void {
  if (typeof exported === "function") return;
  throw new Error(
    `the chart's default export must be a class that extends Chart of cdk8s, or a function ({ app, config }) => objects, found ${
      exported === undefined ? "none" : typeof exported
    }. Add export default.`,
  );
}

const objectsOf = (app: App): unknown[] => app.charts.flatMap((chart): unknown[] => chart.toJson());

/** Checks the prototype, because cdk8s overrides instanceof. */
const isChartClass = (exported: unknown): exported is ChartClass =>
  typeof exported === "function" && Object.prototype.isPrototypeOf.call(Chart.prototype, exported.prototype);

const isObject = (value: unknown): value is { apiVersion: string; kind: string } =>
  typeof value === "object" &&
  value !== null &&
  !(value instanceof ApiObject) &&
  "apiVersion" in value &&
  "kind" in value &&
  typeof value.apiVersion === "string" &&
  typeof value.kind === "string";
