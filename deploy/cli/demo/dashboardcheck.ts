/** Checks through the dashboard's HTTP interface that users may do what their roles allow, and nothing else. */
import { GitHubApp, Installation } from "@denrei/functions/ghapp/kinds";
import { Application } from "@denrei/functions/paas/kinds";
import { apiVersionOf } from "denrei/kinds";
import { resourcePath } from "denrei/kubernetes";
import { AbsentError } from "denrei/runtime";
import type { Response } from "undici";
import type { RunningDashboard } from "../../environment/dashboard.ts";
import type { PaasSteps } from "./paassteps.ts";
import { until } from "./settled.ts";
import type { StepPrinter, Steps } from "./steps.ts";
import { connectGitHub, logIn, type Visitor } from "./visitor.ts";

/** Path at which the dashboard proxies the API server. */
const prefix = "/api/kubernetes";
/** Characters of a response to quote in an error. */
const quotedCharacters = 300;

/** Lets each user list the Applications and change one. Throws an `AbsentError` if the dashboard allows too much or too little. */
export async function checkDashboard(
  { namespace, signal }: Pick<Steps, "namespace" | "signal">,
  dashboard: RunningDashboard,
  changed: string,
  print: StepPrinter,
): Promise<void> {
  for (const person of dashboard.users) {
    const visitor = await logIn(dashboard.url, person, signal);
    const list = `${prefix}${resourcePath(Application, namespace)}`;
    let seen: readonly string[] = [];
    // New roles take effect on the API server after a moment.
    await until(`${person.name} to see Applications through the dashboard`, signal, async () => {
      seen = await namesAt(visitor, list);
      return seen.includes(changed);
    });
    const expected = person.role === "admin" ? 200 : 403;
    await expectAnswer(
      await visitor.fetch(`${prefix}${resourcePath(Application, namespace, changed)}?dryRun=All`, {
        method: "PATCH",
        headers: { "content-type": "application/merge-patch+json" },
        body: JSON.stringify({ spec: { replicas: 2 } }),
      }),
      expected,
      `when ${person.name} changes ${changed}`,
    );
    const permission = expected === 200 ? "may change them" : "may not change them (403)";
    print(person.name, `sees ${seen.length} Applications through the dashboard, and ${permission}`);
  }
}

/**
 * Lets administrators connect GitHub. Throws an `AbsentError` if they may create an Installation without the connection, or may not
 * with it.
 */
export async function checkConnection(
  { namespace, github, signal }: Pick<PaasSteps, "namespace" | "github" | "signal">,
  dashboard: RunningDashboard,
  print: StepPrinter,
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
  for (const person of dashboard.users.filter(({ role }) => role === "admin")) {
    const visitor = await logIn(dashboard.url, person, signal);
    const createInstallation = () =>
      visitor.fetch(`${prefix}${resourcePath(Installation, namespace)}?dryRun=All`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(installation),
      });
    const when = `when ${person.name} creates an Installation`;
    await expectAnswer(await createInstallation(), 403, `${when} without GitHub`);
    await connectGitHub(visitor, login, signal);
    await expectAnswer(await createInstallation(), 201, `${when} as ${login}`);
    print(
      person.name,
      `has connected the GitHub account ${login}, and may create an Installation for ${repository}`,
    );
  }
}

async function expectAnswer(answer: Response, status: number, when: string): Promise<void> {
  const text = await answer.text();
  if (answer.status === status) return;
  throw new AbsentError(
    `expected the dashboard to answer ${status} ${when}, but it answered ${answer.status}: ${text.slice(0, quotedCharacters)}`,
  );
}

async function namesAt(visitor: Visitor, list: string): Promise<readonly string[]> {
  const answer = await visitor.fetch(list);
  const { items = [] } = (await answer.json()) as { items?: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name);
}
