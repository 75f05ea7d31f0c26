/** Whether the dashboard lets people do what they may, and nothing else: asked through its own HTTP interface. */
import { resourcePath } from "../../../bus/kube/client.ts";
import { Application } from "../../../functions/paas/kinds.ts";
import { AbsentError } from "../usage.ts";
import type { DashboardFront } from "./dashboards.ts";
import { until } from "./settled.ts";
import type { Play } from "./story.ts";
import { logIn, type Visitor } from "./visitor.ts";

/** The API server, as the dashboard passes it on. */
const prefix = "/api/kubernetes";
/** An object can be long. */
const longestAnswer = 300;

/** Has each of the people see the Applications, and change one of them. Throws an `AbsentError` when it is not as it should be. */
export async function checkDashboard(
  { namespace, signal }: Pick<Play, "namespace" | "signal">,
  front: DashboardFront,
  changed: string,
  step: (by: string, what: string) => void,
): Promise<void> {
  for (const person of front.people) {
    const visitor = await logIn(front.url, person, signal);
    const list = `${prefix}${resourcePath(Application, namespace)}`;
    let seen: readonly string[] = [];
    // The API server reads its own roles a moment after it has stored them.
    await until(`${person.name} to see Applications through the dashboard`, signal, async () => {
      seen = await namesAt(visitor, list);
      return seen.includes(changed);
    });
    const answer = await visitor.fetch(
      `${prefix}${resourcePath(Application, namespace, changed)}?dryRun=All`,
      {
        method: "PATCH",
        headers: { "content-type": "application/merge-patch+json" },
        body: JSON.stringify({ spec: { replicas: 2 } }),
      },
    );
    const said = await answer.text();
    const wanted = person.role === "admin" ? 200 : 403;
    if (answer.status !== wanted)
      throw new AbsentError(
        `expected the dashboard to answer ${wanted} when ${person.name} changes ${changed}, found ${answer.status}: ${said.slice(0, longestAnswer)}`,
      );
    const does = wanted === 200 ? "may change them" : "may not change them (403)";
    step(person.name, `sees ${seen.length} Applications through the dashboard, and ${does}`);
  }
}

async function namesAt(visitor: Visitor, list: string): Promise<readonly string[]> {
  const answer = await visitor.fetch(list);
  const { items = [] } = (await answer.json()) as { items?: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name);
}
