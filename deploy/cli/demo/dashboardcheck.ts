/** Whether the dashboard lets people do what they may, and nothing else: asked through its own HTTP interface. */
import type { Response } from "undici";
import { resourcePath } from "../../../bus/kube/client.ts";
import { apiVersionOf } from "../../../bus/kube/kind.ts";
import { GitHubApp, Installation } from "../../../functions/ghapp/kinds.ts";
import { Application } from "../../../functions/paas/kinds.ts";
import type { RunningDashboard } from "../../environment/dashboard.ts";
import { AbsentError } from "../../environment/errors.ts";
import type { PaasPlay } from "./paassteps.ts";
import { until } from "./settled.ts";
import type { Steps } from "./story.ts";
import { connectGitHub, logIn, type Visitor } from "./visitor.ts";

/** The API server, as the dashboard passes it on. */
const prefix = "/api/kubernetes";
/** An object can be long. */
const longestAnswer = 300;

/** Has each of the people see the Applications, and change one of them. Throws an `AbsentError` when it is not as it should be. */
export async function checkDashboard(
  { namespace, signal }: Pick<Steps, "namespace" | "signal">,
  front: RunningDashboard,
  changed: string,
  step: (by: string, what: string) => void,
): Promise<void> {
  for (const person of front.users) {
    const visitor = await logIn(front.url, person, signal);
    const list = `${prefix}${resourcePath(Application, namespace)}`;
    let seen: readonly string[] = [];
    // The API server reads its own roles a moment after it has stored them.
    await until(`${person.name} to see Applications through the dashboard`, signal, async () => {
      seen = await namesAt(visitor, list);
      return seen.includes(changed);
    });
    const wanted = person.role === "admin" ? 200 : 403;
    await expectAnswer(
      await visitor.fetch(`${prefix}${resourcePath(Application, namespace, changed)}?dryRun=All`, {
        method: "PATCH",
        headers: { "content-type": "application/merge-patch+json" },
        body: JSON.stringify({ spec: { replicas: 2 } }),
      }),
      wanted,
      `when ${person.name} changes ${changed}`,
    );
    const does = wanted === 200 ? "may change them" : "may not change them (403)";
    step(person.name, `sees ${seen.length} Applications through the dashboard, and ${does}`);
  }
}

/**
 * Has those of the people who may make an Installation connect GitHub, without which they may not. Throws an `AbsentError` when it is
 * not as it should be.
 */
export async function checkConnection(
  { namespace, github, signal }: Pick<PaasPlay, "namespace" | "github" | "signal">,
  front: RunningDashboard,
  step: (by: string, what: string) => void,
): Promise<void> {
  const { login, installationId, repository } = github;
  const installation = {
    apiVersion: apiVersionOf(Installation),
    kind: Installation.kind,
    metadata: { name: "tried" },
    spec: {
      appRef: { kind: GitHubApp.kind, name: "app" },
      installationID: installationId,
      repositories: [repository.split("/")[1]],
      key: "token",
      template: {},
    },
  };
  for (const person of front.users.filter(({ role }) => role === "admin")) {
    const visitor = await logIn(front.url, person, signal);
    const make = () =>
      visitor.fetch(`${prefix}${resourcePath(Installation, namespace)}?dryRun=All`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(installation),
      });
    const when = `when ${person.name} makes an Installation`;
    await expectAnswer(await make(), 403, `${when} without GitHub`);
    await connectGitHub(visitor, login, signal);
    await expectAnswer(await make(), 201, `${when} as ${login}`);
    step(person.name, `has connected ${login} of GitHub, and may make an Installation for ${repository}`);
  }
}

async function expectAnswer(answer: Response, wanted: number, when: string): Promise<void> {
  const said = await answer.text();
  if (answer.status === wanted) return;
  throw new AbsentError(
    `expected the dashboard to answer ${wanted} ${when}, found ${answer.status}: ${said.slice(0, longestAnswer)}`,
  );
}

async function namesAt(visitor: Visitor, list: string): Promise<readonly string[]> {
  const answer = await visitor.fetch(list);
  const { items = [] } = (await answer.json()) as { items?: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name);
}
