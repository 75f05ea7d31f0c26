/**
 * `GET /api/namespaces?known=<name>`: where the user may list the kinds of this project. Candidates are the namespaces that the user
 * may list, those on the bus, and the ones in the query; each is returned only if the API server says that the user has a role there.
 * https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-rules-review-v1/
 */
import { Hono } from "hono";
import type { Env, Parts } from "../env.ts";
import { concurrencyLimiter } from "../limiter.ts";
import { limitConcurrency } from "../requestlimit.ts";
import { projectKinds } from "./allowlist.ts";
import { type Ask, asUser } from "./asuser.ts";
import { RejectedError } from "./responses.ts";

/** The response. */
export interface VisibleNamespaces {
  /** Whether the user may list in all namespaces at once. */
  readonly everywhere: boolean;
  /** In alphabetical order. */
  readonly namespaces: readonly string[];
}

/** Reviews per request. Further namespaces are left out; the user can type their names. */
const maxReviews = 300;
const reviewsAtOnce = 8;
/** Requests per user. */
const maxAtOnce = 2;
const maxKnown = 20;
const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const groups = new Set(projectKinds.map(({ group }) => group));
const onePerGroup = [...groups].flatMap((group) => projectKinds.find((kind) => kind.group === group) ?? []);

/** `/api/namespaces` */
export function namespaceRoutes({ apiServer, platform }: Parts): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/api/namespaces", limitConcurrency(concurrencyLimiter(maxAtOnce)), async (c) => {
    const ask = asUser(c, apiServer);
    const known = (c.req.queries("known") ?? []).slice(0, maxKnown);
    const [everywhere, listed] = await Promise.all([mayListAny(ask), listNamespaces(ask)]);
    if (everywhere && listed) return c.json({ everywhere, namespaces: listed } satisfies VisibleNamespaces);
    const onBus = await platform.namespaces.all();
    const candidates = [...new Set([...known, ...(listed ?? []), ...onBus])].filter((name) =>
      dnsLabel.test(name),
    );
    const namespaces = everywhere ? candidates : await visibleOf(ask, candidates.slice(0, maxReviews));
    return c.json({ everywhere, namespaces: namespaces.sort() } satisfies VisibleNamespaces);
  });
  return app;
}

/** Undefined if the user may not list namespaces. */
async function listNamespaces(ask: Ask): Promise<string[] | undefined> {
  try {
    const { items } = await ask<{ items: readonly { metadata: { name: string } }[] }>("/api/v1/namespaces");
    return items.map(({ metadata }) => metadata.name);
  } catch (error) {
    if (error instanceof RejectedError && error.status === 403) return undefined;
    throw error;
  }
}

const authorization = "authorization.k8s.io/v1";

/** Creates a review, and returns its status. */
async function review<Status>(ask: Ask, kind: string, spec: object): Promise<Status> {
  const body = { apiVersion: authorization, kind, spec };
  return (await ask<{ status: Status }>(`/apis/${authorization}/${kind.toLowerCase()}s`, { body })).status;
}

/** Whether the user may list a kind of any group in the namespace, or in all namespaces. */
async function mayListAny(ask: Ask, namespace?: string): Promise<boolean> {
  const answers = await Promise.all(
    onePerGroup.map(async ({ group, plural: resource }) => {
      const where = namespace === undefined ? {} : { namespace };
      const spec = { resourceAttributes: { verb: "list", group, resource, ...where } };
      return (await review<{ allowed: boolean }>(ask, "SelfSubjectAccessReview", spec)).allowed;
    }),
  );
  return answers.includes(true);
}

/** Reviews namespaces, a few at a time. */
async function visibleOf(ask: Ask, candidates: readonly string[]): Promise<string[]> {
  const rest = [...candidates];
  const visible: string[] = [];
  const reviewRest = async () => {
    for (let name = rest.shift(); name !== undefined; name = rest.shift())
      if (await mayListIn(ask, name)) visible.push(name);
  };
  await Promise.all(Array.from({ length: reviewsAtOnce }, reviewRest));
  return visible;
}

interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
}

interface RulesStatus {
  readonly resourceRules: readonly ResourceRule[];
  readonly incomplete: boolean;
}

async function mayListIn(ask: Ask, namespace: string): Promise<boolean> {
  const status = await review<RulesStatus>(ask, "SelfSubjectRulesReview", { namespace });
  const isListed = status.resourceRules.some(
    ({ verbs, apiGroups = [] }) =>
      verbs.some((verb) => verb === "list" || verb === "*") &&
      apiGroups.some((group) => group === "*" || groups.has(group)),
  );
  // Authorizers outside RBAC, such as those of cloud providers, cannot list their rules.
  return isListed || (status.incomplete && mayListAny(ask, namespace));
}
