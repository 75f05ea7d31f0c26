/** The time until a list of very many Applications is on the page. */
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { buildPage } from "../../dashboard/web/build.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { people, startDashboardEnvironment, team } from "../harness/dashboard.ts";

/** One opening of the page, in milliseconds from the start of the navigation. */
export interface ListOpening {
  /** The first row is visible. */
  readonly first: number;
  /** All rows exist. */
  readonly all: number;
}

const manager = { fieldManager: "bench" };
const digest = "a".repeat(64);
/** Concurrent creates. */
const atOnce = 16;

/** Runs in the page: records when the first and the last row exist. */
const watchRows = (rows: number): string => `new Promise((resolve) => {
  let first;
  const check = () => {
    const found = document.querySelectorAll("tbody tr").length;
    if (found > 0) first ??= performance.now();
    if (found >= ${rows}) resolve({ first, all: performance.now() });
    else requestAnimationFrame(check);
  };
  check();
})`;

/** Opens the list this many times, each time as a new visitor with a login. */
export async function measureList(
  applications: number,
  openings: number,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<ListOpening[]> {
  await buildPage();
  const environment = await startDashboardEnvironment();
  try {
    const { client } = environment;
    const names = Array.from({ length: applications }, (_, at) => `app-${at}`);
    const conditions = [
      {
        type: "Ready",
        status: "True",
        reason: "Deployed",
        message: "",
        lastTransitionTime: new Date().toISOString(),
      },
    ];
    while (names.length > 0) {
      signal.throwIfAborted();
      await Promise.all(
        names.splice(0, atOnce).map(async (name) => {
          const at = { namespace: team, name };
          const spec = {
            domains: [`${name}.example.com`],
            image: `registry.example.com/acme/${name}:1`,
            replicas: 1,
          };
          await client.create(
            Application,
            { apiVersion: apiVersionOf(Application), kind: "Application", metadata: at, spec },
            manager,
          );
          const status = {
            url: `https://${name}.example.com`,
            currentImage: `registry.example.com/acme/${name}@sha256:${digest}`,
            readyReplicas: 1,
            conditions,
          };
          await client.mergePatch(Application, at, { status }, { ...manager, subresource: "status" });
        }),
      );
    }
    const page = await environment.loggedIn(people.alice, team);
    const session = await page.context().newCDPSession(page);
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    const found: ListOpening[] = [];
    for (let opening = 1; opening <= openings; opening++) {
      signal.throwIfAborted();
      await page.goto("about:blank");
      await page.goto(`${environment.url}/applications`, { waitUntil: "commit" });
      const one = await page.evaluate<ListOpening>(watchRows(applications));
      say(
        `opened ${opening}: first row after ${Math.round(one.first)} ms, all after ${Math.round(one.all)} ms`,
      );
      found.push(one);
    }
    return found;
  } finally {
    await environment.stop();
  }
}
